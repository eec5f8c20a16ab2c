import { InputDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { asServiceError, pathOf, type ServiceRequests } from '../service';
import type {
  IFolderContents,
  ILocalCopy,
  INoteRecord,
  IWorkspaceItem
} from '../service/records/contents';
import type { ILocalSide } from './actions';

/** Ask for a name, create a note in the user's own folder, and open a copy; resolves to whether one was created. */
export async function newNote(
  requests: ServiceRequests,
  local: ILocalSide,
  trans: TranslationBundle
): Promise<boolean> {
  const location = await ownFolder(requests);
  const note = await created(requests, location, trans);
  if (note === null) {
    return false;
  }
  const body = { name: note.name, to: local.folder() };
  await local.open(await requests.post<ILocalCopy>(pathOf('notes', note.id, 'copy'), body));
  return true;
}

/** Return the user's own folder of notes, else the first one. */
async function ownFolder(requests: ServiceRequests): Promise<string> {
  const query = { type: 'notes', location: '' };
  const { folders } = await requests.get<IFolderContents>('folders', query);
  const places = folders.map(folder => folder.location);
  return places.find(place => place.startsWith('Users/')) ?? places[0] ?? '';
}

/** Ask for a name until the service takes it; null when the user cancels. The typed text is kept. */
async function created(
  requests: ServiceRequests,
  location: string,
  trans: TranslationBundle
): Promise<IWorkspaceItem | null> {
  const title = trans.__('New note in %1', location);
  let label = trans.__('Name');
  let text = '';
  for (;;) {
    const { button, value } = await InputDialog.getText({ title, label, text, required: true });
    text = (value ?? '').trim();
    if (!button.accept || text === '') {
      return null;
    }
    try {
      return await requests.post<INoteRecord>('notes', { name: text, location });
    } catch (reason) {
      label = asServiceError(reason).message;
    }
  }
}
