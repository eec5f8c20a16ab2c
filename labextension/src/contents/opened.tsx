import type { CommandRegistry } from '@lumino/commands';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { type ISvcPanel, restoreOpenItems } from '../panel';
import { EXTENSION_ID, type ServiceRequests } from '../service';
import type { ContentsActions, ILocalSide } from './actions';
import { addCommands } from './commands';
import { FolderTree } from './folderTree';
import { keyOf, lastPart } from './items';
import { JupyterTree } from './jupyterTree';
import { TreeModel } from './model';
import { ContentsSection } from './section';

const MEMORY = `${EXTENSION_ID}:contents`;

/** What the section needs. */
export interface IOpenedContentsOptions {
  commands: CommandRegistry;
  panel: ISvcPanel;
  requests: ServiceRequests;
  stateDB: IStateDB;
  notebooks: INotebookTracker | null;
  local: ILocalSide;
  /** See `IContentsParts.makeNote`. */
  makeNote: (location: string) => Promise<string | null>;
  trans: TranslationBundle;
}

/** The opened section "Notebooks": its model and its commands. */
export class OpenedContents {
  readonly model: TreeModel;
  private readonly _first: string;
  private _isRestored = false;

  constructor(private readonly _options: IOpenedContentsOptions) {
    const { commands, panel, requests, notebooks, local, makeNote, trans } = _options;
    const jupyter = new JupyterTree(requests, trans.__('Jupyter notebooks'));
    const model = new TreeModel([
      jupyter,
      new FolderTree(requests, 'notes', trans.__('Notes')),
      new FolderTree(requests, 'notebook_dashboards', trans.__('Dashboards'))
    ]);
    this.model = model;
    void model.find(panel.search);
    panel.searchChanged.connect((_, search) => void model.find(search));
    this._first = keyOf(jupyter.item);
    let actions: ContentsActions | null = null;
    addCommands(commands, {
      trans,
      model,
      jupyter,
      makeNote,
      actions: async () =>
        (actions ??= new (await import('./actions')).ContentsActions(
          trans,
          model,
          requests,
          local
        )),
      openNotebook: () => {
        const path = notebooks?.currentWidget?.context.path;
        return path === undefined ? null : lastPart(path);
      }
    });
    notebooks?.currentChanged.connect(() => commands.notifyCommandChanged());
  }

  /** The content of the section. */
  readonly Section = (): JSX.Element => (
    <ContentsSection
      trans={this._options.trans}
      model={this.model}
      commands={this._options.commands}
      look={this._look}
    />
  );

  /** Open what was open at the last visit at the first call, and refresh it later. */
  private readonly _look = (): void => {
    const { model } = this;
    void (this._isRestored
      ? model.refresh()
      : restoreOpenItems(model, this._options.stateDB, MEMORY, [this._first]));
    this._isRestored = true;
  };
}
