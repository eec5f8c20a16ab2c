import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import type { INotebookSchedules } from '../schedules/notebookSchedules';
import {
  type ISvcSchedules as Schedules,
  ISvcSchedules,
  ScheduleCommands
} from '../schedules/tokens';
import { EXTENSION_ID, TRANSLATION_DOMAIN } from '../service';

import { ScheduleStatusItem } from './statusItem';

const RANK = 900;

/** The status bar item about the schedules of the current notebook. */
export const scheduleStatusPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:schedule-status`,
  description: 'Shows in the status bar when the open notebook runs next.',
  autoStart: true,
  requires: [ISvcSchedules, INotebookTracker],
  optional: [IStatusBar, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    schedules: Schedules,
    notebooks: INotebookTracker,
    bar: IStatusBar | null,
    translator: ITranslator | null
  ): void => {
    if (bar === null) {
      return; // Notebook 7 has none
    }
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const path = (): string | undefined => {
      const panel = notebooks.currentWidget;
      return panel ? app.serviceManager.contents.localPath(panel.context.path) : undefined;
    };
    const known = (): INotebookSchedules | undefined => schedules.ofNotebooks.of(path() ?? '');
    const update = (): void => {
      const wanted = path();
      if (wanted !== undefined) {
        void showWhatDiffers(app, schedules, wanted, trans);
      }
    };
    const open = (id: number): void => void app.commands.execute(ScheduleCommands.open, { id });
    const item = new ScheduleStatusItem(known, { open, update }, trans);
    const changed = new Signal<JupyterFrontEnd, void>(app);
    const tell = (): void => {
      item.update();
      changed.emit();
    };
    schedules.ofNotebooks.changed.connect((_, changedPath) => changedPath === path() && tell());
    notebooks.currentChanged.connect(tell);
    bar.registerStatusItem('svc-jupyter:schedule-status', {
      item,
      align: 'left',
      rank: RANK,
      isActive: () => !!known()?.schedules.length,
      activeStateChanged: changed
    });
  }
};

/** Show what differs from the scheduled copy; from there the copy is updated. */
async function showWhatDiffers(
  app: JupyterFrontEnd,
  schedules: Schedules,
  path: string,
  trans: TranslationBundle
): Promise<void> {
  const [{ compareCopy }, { labOpener }] = await Promise.all([
    import('../schedules/performer'),
    import('../schedules/executedNotebook')
  ]);
  compareCopy(labOpener(app, trans), schedules, path, trans);
}
