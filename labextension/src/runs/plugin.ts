import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import { runsIcon } from '../icons';
import { ISvcPanel, OPEN_COMMAND } from '../panel';
import { ISvcSchedules, ScheduleCommands } from '../schedules/tokens';
import { EXTENSION_ID, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';

const SHOW_RUNS = 'svc-jupyter:show-runs';
const ID = 'svc-jupyter-runs';

/** The page Runs: what all schedules ran and will run. */
export const runsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:runs`,
  description: 'The page Runs: a timeline of all schedules, and their runs by day.',
  autoStart: true,
  requires: [ISvcSchedules, ISvcPanel],
  optional: [ITranslator, ILayoutRestorer, ICommandPalette, ILauncher],
  activate: (
    app: JupyterFrontEnd,
    schedules: ISvcSchedules,
    panel: ISvcPanel,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const tracker = new WidgetTracker<Widget>({ namespace: ID });
    const make = async (): Promise<Widget> => {
      const { runsWidget } = await import('./widget');
      const widget = runsWidget(schedules, {
        openSchedule: id => void app.commands.execute(ScheduleCommands.open, { id }),
        openCommand: (id, preview) => void app.commands.execute(OPEN_COMMAND, { id, preview }),
        trans
      });
      widget.id = ID;
      void tracker.add(widget);
      return widget;
    };
    app.commands.addCommand(SHOW_RUNS, {
      label: trans.__('Runs'),
      caption: trans.__('What all schedules ran in the last seven days, and run in the next'),
      icon: args => (args.isPalette ? undefined : runsIcon),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => panel.openView(ID, make)
    });
    palette?.addItem({ command: SHOW_RUNS, category: categoryOf(trans) });
    launcher?.add({ command: SHOW_RUNS, category: categoryOf(trans), rank: 40 });
    void restorer?.restore(tracker, { command: SHOW_RUNS, name: ({ id }) => id });
  }
};
