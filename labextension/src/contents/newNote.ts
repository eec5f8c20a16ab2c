import { InputDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { asServiceError, pathOf, type ServiceRequests } from '../service';
import type { ILocalCopy, INoteRecord, IWorkspaceItem } from '../service/records/contents';
import type { ILocalSide } from './actions';
import { ownFolder } from './folderTree';
import { pathIn } from './items';

/**
 * Ask for a name, create a note in a folder, by default in the user's own, and open a copy.
 *
 * Resolves to the note's path; to null if the user cancels.
 */
export async function newNote(
  requests: ServiceRequests,
  local: ILocalSide,
  trans: TranslationBundle,
  location: string | null
): Promise<string | null> {
  const note = await created(requests, location ?? (await ownFolder(requests, 'notes')), trans);
  if (note === null) {
    return null;
  }
  const body = { name: note.name, to: local.folder() };
  await local.open(await requests.post<ILocalCopy>(pathOf('notes', note.id, 'copy'), body));
  return pathIn(note);
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
