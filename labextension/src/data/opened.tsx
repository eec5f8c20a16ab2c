import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { notifyError } from '../notices';
import { type ISectionHandle, type ISvcPanel, restoreOpenItems } from '../panel';
import { EXTENSION_ID, type ServiceRequests } from '../service';
import type { ITap } from '../service/records/data';
import { addCommands, DataSteps } from './commands';
import { DataModel } from './model';
import { DataSection } from './section';
import { TapCalls } from './tapCalls';

const MEMORY = `${EXTENSION_ID}:data`;

/** What the section and the form of a tap need. */
export interface IOpenedDataOptions {
  app: JupyterFrontEnd;
  panel: ISvcPanel;
  requests: ServiceRequests;
  stateDB: IStateDB;
  notebooks: INotebookTracker | null;
  trans: TranslationBundle;
  /** The head of the section. */
  head: ISectionHandle;
}

/** The opened section "Data": its model, its commands, and the form of a tap. */
export class OpenedData {
  private readonly _calls: TapCalls;
  private readonly _model: DataModel;
  private readonly _steps: DataSteps;
  private _isRestored = false;

  constructor(private readonly _options: IOpenedDataOptions) {
    const { app, panel, requests, notebooks, trans, head } = _options;
    this._calls = new TapCalls(requests);
    this._model = new DataModel(requests, trans.__('Hive'));
    const parts = {
      app,
      trans,
      requests,
      model: this._model,
      notebooks,
      openForm: (tap: ITap | null) => void this.openForm(tap),
      remove: async (tap: ITap) => {
        await this._remove(tap);
      }
    };
    this._steps = new DataSteps(parts);
    addCommands(parts, this._steps);
    const { taps } = this._model;
    taps.changed.connect(() => {
      const count = taps.state.value?.length ?? 0;
      head.badge = count === 0 ? '' : trans._n('%1 tap', '%1 taps', count);
    });
    panel.refreshRequested.connect(() => void this._model.refreshAll());
    panel.searchChanged.connect((_, search) => this._find(search));
  }

  /** The content of the section. */
  readonly Section = (): JSX.Element => (
    <DataSection
      trans={this._options.trans}
      model={this._model}
      steps={this._steps}
      look={this._look}
      addTap={() => void this.openForm(null)}
    />
  );

  /** Open the form of a tap; null for a new one. */
  async openForm(tap: ITap | null): Promise<void> {
    const id = `svc-jupyter-tap-${tap?.id ?? 'new'}`;
    await this._options.panel.openView(id, async () => {
      const { tapWidget } = await import('./tapFormView');
      const widget = tapWidget({
        trans: this._options.trans,
        calls: this._calls,
        tap,
        stored: () => void this._model.taps.refresh(),
        close: () => widget.dispose(),
        remove: one => {
          void this._remove(one).then(isRemoved => {
            if (isRemoved) {
              widget.dispose();
            }
          });
        }
      });
      return widget;
    });
  }

  private async _remove(tap: ITap): Promise<boolean> {
    const { removeAsked } = await import('./removal');
    const isRemoved = await removeAsked(this._options.trans, this._calls, tap);
    if (isRemoved) {
      await this._model.taps.refresh();
    }
    return isRemoved;
  }

  /** Open what was open at the last visit, at the first call. */
  private readonly _look = (): void => {
    if (!this._isRestored) {
      this._isRestored = true;
      void this._restore();
    }
  };

  private async _restore(): Promise<void> {
    await this._model.taps.refresh();
    await restoreOpenItems(this._model, this._options.stateDB, MEMORY);
    const { search } = this._options.panel;
    if (search !== '') {
      this._find(search); // the section was collapsed until the search opened it
    }
  }

  private _find(search: string): void {
    this._model.find(search).catch((reason: unknown) => {
      notifyError(reason);
    });
  }
}
