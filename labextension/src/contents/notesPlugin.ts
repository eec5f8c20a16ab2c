import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import {
  asServiceError,
  EXTENSION_ID,
  ISvcService,
  pathOf,
  type ServiceRequests,
  TRANSLATION_DOMAIN
} from '../service';
import type { ILocalCopy } from '../service/records/contents';
import { type ICopyListener, noteOf, NoteCopy } from './noteCopies';

const CONFLICT = 409;
/** How long the message about a saved note is shown, in milliseconds. */
const SAVED_SHOWN = 4_000;

/** Saves a note that is open as a notebook to the service, whenever the notebook is saved. */
export const notesPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:notes`,
  description: 'Saves notes that are open as notebooks back to the service.',
  autoStart: true,
  requires: [ISvcService, INotebookTracker],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    notebooks: INotebookTracker,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { requests } = service;
    // Several tabs of one notebook share its context.
    const followed = new WeakSet<NotebookPanel['context']>();
    const follow = ({ context }: NotebookPanel): void => {
      if (followed.has(context)) {
        return;
      }
      followed.add(context);
      const path = (): string => app.serviceManager.contents.localPath(context.path);
      const copy = new NoteCopy(
        requests,
        context.model,
        path,
        listener(app, requests, trans, path)
      );
      context.saveState.connect((_, state) => {
        if (state === 'completed' && noteOf(context.model) !== null) {
          void copy.onSaved();
        }
      });
    };
    notebooks.forEach(follow);
    notebooks.widgetAdded.connect((_, panel) => follow(panel));
  }
};

/** Return a listener that shows messages about a copy, one at a time. */
function listener(
  app: JupyterFrontEnd,
  requests: ServiceRequests,
  trans: TranslationBundle,
  path: () => string
): ICopyListener {
  let told = '';
  const instead = (id: string): void => {
    Notification.dismiss(told);
    told = id;
  };
  const open = async (note: number): Promise<void> => {
    const name = PathExt.basename(path(), '.ipynb');
    const body = { name, to: PathExt.dirname(path()) };
    try {
      const copy = await requests.post<ILocalCopy>(pathOf('notes', note, 'copy'), body);
      await app.commands.execute('docmanager:open', { path: copy.path });
    } catch (reason) {
      instead(Notification.error(asServiceError(reason).message, { autoClose: false }));
    }
  };
  return {
    saved: note =>
      instead(
        Notification.success(trans.__('The note %1 is saved in the service.', note.name), {
          autoClose: SAVED_SHOWN
        })
      ),
    asked: (question, answer) => {
      const actions = [
        { label: trans.__('Save it into the note'), callback: () => void answer(true) },
        { label: trans.__('Keep it here only'), callback: () => void answer(false) }
      ];
      instead(
        Notification.warning(trans.__('Saved here only: %1', question.message), {
          autoClose: false,
          actions
        })
      );
    },
    refused: (error, note, overwrite) => {
      const actions = [
        { label: trans.__('Save over it'), callback: () => void overwrite() },
        { label: trans.__('Open what it says now'), callback: () => void open(note) }
      ];
      const file = PathExt.basename(path());
      instead(
        Notification.error(
          trans.__('%1 is saved here, and not in the service: %2', file, error.message),
          { autoClose: false, ...(error.status === CONFLICT && { actions }) }
        )
      );
    }
  };
}
