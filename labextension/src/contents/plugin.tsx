import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { textEditorIcon } from '@jupyterlab/ui-components';
import { notifyError } from '../notices';
import { ISvcPanel, Loaded, loadedOnce, VisibleView, workingFolder } from '../panel';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';
import type { ILocalSide } from './actions';
import type { OpenedContents } from './opened';

/** Creates a note, and opens it. */
export const NEW_NOTE = 'svc-jupyter:new-note';

const RANK = 40;

/**
 * The section "Notebooks": the service's Jupyter notebooks, its notes and its dashboards.
 *
 * Its code is loaded when the section is first visible.
 */
export const contentsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:contents`,
  description: "The service's notebooks, notes and dashboards: open, move, rename, delete, upload.",
  autoStart: true,
  requires: [ISvcService, ISvcPanel, IStateDB],
  optional: [ITranslator, INotebookTracker, IDefaultFileBrowser, ICommandPalette, ILauncher],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    stateDB: IStateDB,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    files: IDefaultFileBrowser | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { requests } = service;
    const local = localSide(app, notebooks, files);
    const { commands } = app;
    let shown: OpenedContents | null = null;
    const opened = loadedOnce(async () => {
      const { OpenedContents } = await import('./opened');
      const options = { commands, panel, requests, stateDB, notebooks, local, trans, makeNote };
      return (shown = new OpenedContents(options));
    });
    const makeNote = async (location: string | null): Promise<string | null> => {
      const { newNote } = await import('./newNote');
      try {
        return await newNote(requests, local, trans, location);
      } catch (reason) {
        notifyError(reason);
        return null;
      }
    };
    addNewNote(app, trans, async () => {
      if ((await makeNote(null)) !== null) {
        await shown?.model.refresh();
      }
    });
    const offered = { command: NEW_NOTE, category: categoryOf(trans) };
    palette?.addItem(offered);
    launcher?.add({ ...offered, rank: 20 });
    const widget = new VisibleView(() => (
      <Loaded load={opened} trans={trans}>
        {({ Section }) => <Section />}
      </Loaded>
    ));
    panel.addSection({ id: 'notebooks', title: trans.__('Notebooks'), rank: RANK, widget });
  }
};

function addNewNote(
  app: JupyterFrontEnd,
  trans: TranslationBundle,
  execute: () => Promise<void>
): void {
  app.commands.addCommand(NEW_NOTE, {
    label: trans.__('New note'),
    caption: trans.__('A notebook whose cells run in the session of a Spark cluster'),
    icon: args => (args.isPalette ? undefined : textEditorIcon),
    describedBy: { args: { type: 'object', properties: {} } },
    execute
  });
}

function localSide(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  files: IDefaultFileBrowser | null
): ILocalSide {
  const { contents } = app.serviceManager;
  return {
    folder: () => contents.localPath(workingFolder(app, notebooks, files)),
    open: async ({ path }) => {
      await app.commands.execute('docmanager:open', { path });
    },
    saved: async () => {
      const context = notebooks?.currentWidget?.context;
      if (!context) {
        throw new Error('no notebook is open');
      }
      if (context.model.dirty) {
        await context.save();
      }
      return contents.localPath(context.path);
    }
  };
}
