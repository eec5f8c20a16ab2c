import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { lazy, Suspense } from 'react';
import { ISvcPanel, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import type { ContentsActions, ILocalSide } from './actions';

import { addCommands } from './commands';

import { FolderTree } from './folderTree';
import { keyOf, lastPart } from './items';

import { JupyterTree } from './jupyterTree';

import { TreeModel } from './model';

const RANK = 40;
const MEMORY = `${EXTENSION_ID}:contents`;
const ContentsSection = lazy(async () => ({
  default: (await import('./section')).ContentsSection
}));

/** The section "Notebooks": the service's Jupyter notebooks, its notes and its dashboards. */
export const contentsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:contents`,
  description: "The service's notebooks, notes and dashboards: open, move, rename, delete, upload.",
  autoStart: true,
  requires: [ISvcService, ISvcPanel, IStateDB],
  optional: [ITranslator, INotebookTracker, IDefaultFileBrowser],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    stateDB: IStateDB,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    files: IDefaultFileBrowser | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { requests } = service;
    const jupyter = new JupyterTree(requests, trans.__('Jupyter notebooks'));
    const model = new TreeModel([
      jupyter,
      new FolderTree(requests, 'notes', trans.__('Notes')),
      new FolderTree(requests, 'notebook_dashboards', trans.__('Dashboards'))
    ]);
    const local = localSide(app, notebooks, files);
    let actions: ContentsActions | null = null;
    addCommands(app.commands, {
      trans,
      model,
      jupyter,
      actions: async () =>
        (actions ??= new (await import('./actions')).ContentsActions(trans, model, local)),
      openNotebook: () => {
        const path = notebooks?.currentWidget?.context.path;
        return path === undefined ? null : lastPart(path);
      }
    });
    notebooks?.currentChanged.connect(() => app.commands.notifyCommandChanged());
    const look = remembered(model, stateDB, keyOf(jupyter.item));
    const parts = { trans, model, commands: app.commands, look };
    const widget = new VisibleView(() => (
      <Suspense>
        <ContentsSection {...parts} />
      </Suspense>
    ));
    panel.addSection({ id: 'notebooks', title: trans.__('Notebooks'), rank: RANK, widget });
  }
};

/** Return a function that restores the open items of the last visit at its first call, and refreshes them later. */
function remembered(model: TreeModel, stateDB: IStateDB, first: string): () => void {
  let isRestored = false;
  const restore = async (): Promise<void> => {
    const kept = await stateDB.fetch(MEMORY).catch(() => undefined);
    const keys = Array.isArray(kept) ? kept.filter(key => typeof key === 'string') : [first];
    await model.restore(keys);
    let saved = '';
    model.changed.connect(() => {
      const now = model.openKeys;
      if (saved !== now.join('\n')) {
        saved = now.join('\n');
        void stateDB.save(MEMORY, now);
      }
    });
  };
  return () => {
    void (isRestored ? model.refresh() : restore());
    isRestored = true;
  };
}

function localSide(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  files: IDefaultFileBrowser | null
): ILocalSide {
  const { contents } = app.serviceManager;
  return {
    folder: () => (files ? contents.localPath(files.model.path) : ''),
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
