import { TextItem } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { JSX } from 'react';
import type { INotebookSchedules } from '../schedules/notebookSchedules';
import { summaryOf } from './summary';

/** The actions of a click. */
export interface IStatusSteps {
  /** Show the schedule's runs. */
  open: (id: number) => void;
  /** Update the schedules' copy to the saved notebook. */
  update: () => void;
}

/** The status bar item: the open notebook's next run, its last run, and whether its copy is out of date. */
export class ScheduleStatusItem extends ReactWidget {
  constructor(
    private readonly _known: () => INotebookSchedules | undefined,
    private readonly _steps: IStatusSteps,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-SvcStatusItem');
  }

  protected override render(): JSX.Element | null {
    const known = this._known();
    const first = known?.schedules[0];
    if (!known || !first) {
      return null;
    }
    const trans = this._trans;
    return (
      <>
        <button
          type="button"
          title={trans.__('Show the runs of %1', first.name)}
          onClick={() => this._steps.open(first.id)}
        >
          <TextItem source={summaryOf(trans, known, new Date())} />
        </button>
        {!known.isCopyCurrent && (
          <button
            type="button"
            className="jp-mod-attention"
            title={trans.__('Later runs take the notebook as it is saved now')}
            onClick={this._steps.update}
          >
            <TextItem source={trans.__('! the scheduled copy is older: update it')} />
          </button>
        )}
      </>
    );
  }
}
