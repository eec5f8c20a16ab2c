import { ReactWidget, ToolbarButtonComponent } from '@jupyterlab/ui-components';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { scheduledIcon, scheduleIcon } from '../icons';
import type { NotebookSchedules } from '../schedules/notebookSchedules';
import { summaryOf } from './summary';

/** The clock in a notebook's toolbar: filled when the notebook is scheduled. It acts on that notebook. */
export class ScheduleButton extends ReactWidget {
  /**
   * @param localPath - Returns a path on the Jupyter server.
   */
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _schedules: NotebookSchedules,
    private readonly _localPath: (path: string) => string,
    private readonly _trans: TranslationBundle,
    private readonly _open: (panel: NotebookPanel) => void
  ) {
    super();
    this.addClass('jp-SvcScheduleButton');
    _schedules.changed.connect(this._onChanged, this);
  }

  override dispose(): void {
    this._schedules.changed.disconnect(this._onChanged, this);
    super.dispose();
  }

  protected override render(): JSX.Element {
    const summary = summaryOf(this._trans, this._schedules.of(this._path), new Date());
    return (
      <ToolbarButtonComponent
        icon={summary === '' ? scheduleIcon : scheduledIcon}
        tooltip={
          summary === ''
            ? this._trans.__('Schedule this notebook…')
            : this._trans.__('Scheduled: %1. Edit its schedule…', summary)
        }
        pressed={summary !== ''}
        onClick={() => this._open(this._panel)}
      />
    );
  }

  private get _path(): string {
    return this._localPath(this._panel.context.path);
  }

  private _onChanged(_: NotebookSchedules, path: string): void {
    if (path === this._path) {
      this.update();
    }
  }
}
