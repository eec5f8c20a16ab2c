import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IToolbarWidgetRegistry, Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { type Widget, Panel } from '@lumino/widgets';
import { loadedOnce, reloading } from '../panel';
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
import type { ItemName, OpenedNotebooks } from './opened';
import { ISvcNotes } from './tokens';

const CONFLICT = 409;
/** How long the message about a saved note is shown, in milliseconds. */
const SAVED_SHOWN = 4_000;

/** The items of a notebook's toolbar, by their names in the toolbar's settings. */
const TOOLBAR: Readonly<Record<string, ItemName>> = {
  'svc-note-saved': 'saved',
  'svc-run-as-job': 'job',
  'svc-note-cluster': 'cluster'
};

/**
 * Saves a note that is open as a notebook to the service, whenever the notebook is saved. Gives notes and notebooks of
 * the kernel Spark (svc) their fields and the items of their toolbar.
 */
export const notesPlugin: JupyterFrontEndPlugin<ISvcNotes> = {
  id: `${EXTENSION_ID}:notes`,
  description: 'Notes that are open as notebooks: saving, forms, cluster, jobs.',
  autoStart: true,
  requires: [ISvcService, INotebookTracker],
  optional: [ITranslator, IToolbarWidgetRegistry],
  provides: ISvcNotes,
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    notebooks: INotebookTracker,
    translator: ITranslator | null,
    toolbars: IToolbarWidgetRegistry | null
  ): ISvcNotes => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { requests } = service;
    const copyOf = followSaves(app, requests, notebooks, trans, context => {
      opened().then(
        all => all.refresh(context),
        () => undefined
      );
    });
    const opened = loadedOnce(async () => {
      const room = await import('./opened');
      return new room.OpenedNotebooks({ app, notebooks, requests, trans, copyOf });
    });
    const offer = reloading(trans);
    for (const [item, name] of Object.entries(TOOLBAR)) {
      toolbars?.addFactory<NotebookPanel>('Notebook', item, panel =>
        place(panel, name, opened, offer)
      );
    }
    if (!toolbars) {
      void app.restored.then(opened);
    }
    return { isRefused: context => copyOf(context).refused };
  }
};

/** Return the place of an item in a toolbar, which it takes as soon as its code is loaded. */
function place(
  panel: NotebookPanel,
  name: ItemName,
  opened: () => Promise<OpenedNotebooks>,
  offer: (retry: () => void) => void
): Widget {
  const found = new Panel();
  found.addClass('jp-SvcNote-place');
  found.hide();
  const fill = (): void => {
    const loaded = (all: OpenedNotebooks): void => {
      if (!panel.isDisposed && !found.isDisposed) {
        all.fill(found, panel, name);
      }
    };
    opened().then(loaded, () => offer(fill));
  };
  fill();
  return found;
}

/** Save the notes of open notebooks; return what finds the copy of a notebook. */
function followSaves(
  app: JupyterFrontEnd,
  requests: ServiceRequests,
  notebooks: INotebookTracker,
  trans: TranslationBundle,
  onSaved: (context: NotebookPanel['context']) => void
): (context: NotebookPanel['context']) => NoteCopy {
  // Several tabs of one notebook share its context.
  const copies = new WeakMap<NotebookPanel['context'], NoteCopy>();
  const copyOf = (context: NotebookPanel['context']): NoteCopy => {
    const known = copies.get(context);
    if (known) {
      return known;
    }
    const path = (): string => app.serviceManager.contents.localPath(context.path);
    const copy = new NoteCopy(requests, context.model, path, listener(app, requests, trans, path));
    context.saveState.connect((_, state) => {
      if (state === 'completed' && noteOf(context.model) !== null) {
        void copy.onSaved().then(() => onSaved(context));
      }
    });
    copies.set(context, copy);
    return copy;
  };
  notebooks.forEach(panel => copyOf(panel.context));
  notebooks.widgetAdded.connect((_, panel) => copyOf(panel.context));
  return copyOf;
}

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
