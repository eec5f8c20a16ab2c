import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification, WidgetTracker } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { Menu, type Widget } from '@lumino/widgets';
import { lazy, Suspense } from 'react';
import { ISvcPanel, viewArea, VisibleView } from '../panel';
import {
  asServiceError,
  EXTENSION_ID,
  ISvcService,
  Resource,
  TRANSLATION_DOMAIN
} from '../service';
import type { IScheduleRecord } from '../service/records/schedules';

import { ScheduleCalls } from './calls';

import { NotebookSchedules } from './notebookSchedules';
import { attentionCount, inOrder } from './order';
import { type Step, stepLabel, stepsOf } from './steps';
import { ISvcSchedules, ScheduleCommands } from './tokens';

const RANK = 20;
const INTERVAL = 10_000;
const STEPS: readonly Step[] = ['edit', 'run', 'suspend', 'resume', 'kill'];
const SchedulesSection = lazy(async () => ({
  default: (await import('./section')).SchedulesSection
}));
const ID_ARGUMENT = {
  args: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] }
} as const;

/** The section "Schedules", the details of schedules, and their commands. */
export const schedulesPlugin: JupyterFrontEndPlugin<ISvcSchedules> = {
  id: `${EXTENSION_ID}:schedules`,
  description:
    'Schedules: their next and last runs, logs, executed notebooks, and what can be done about them.',
  autoStart: true,
  provides: ISvcSchedules,
  requires: [ISvcService, ISvcPanel],
  optional: [ITranslator, ILayoutRestorer, INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null
  ): ISvcSchedules => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const filter = { ended: false };
    const schedules = sharedSchedules(service, filter);
    addCommands(app, schedules, trans);
    addDetails(app, service, schedules, trans, restorer);
    addSection(app, panel, schedules, filter, trans, notebooks);
    return schedules;
  }
};

function sharedSchedules(service: ISvcService, filter: { ended: boolean }): ISvcSchedules {
  const calls = new ScheduleCalls(service.requests);

  const all = new Resource<IScheduleRecord[]>({
    name: 'schedules',
    fetch: async signal => inOrder(await calls.all(filter.ended, signal)),
    interval: INTERVAL
  });
  const ofNotebooks = new NotebookSchedules(calls);
  const changed = (): void => {
    ofNotebooks.refreshAll();
    if (all.isWatched) {
      void all.refresh();
    }
  };
  return { calls, all, ofNotebooks, changed };
}

/** Add a command for each step; its argument `{id}` is the schedule. */
function addCommands(
  app: JupyterFrontEnd,
  schedules: ISvcSchedules,
  trans: TranslationBundle
): void {
  for (const step of STEPS) {
    app.commands.addCommand(ScheduleCommands[step], {
      label: stepLabel(trans, step),
      describedBy: ID_ARGUMENT,
      execute: async ({ id }) => {
        try {
          const schedule = await schedules.calls.one(Number(id));
          const performer = await performerOf(app, schedules, trans);
          await performer.step(step, schedule);
        } catch (reason) {
          Notification.error(asServiceError(reason).message);
        }
      }
    });
  }
}

async function performerOf(
  app: JupyterFrontEnd,
  schedules: ISvcSchedules,
  trans: TranslationBundle
): Promise<import('./performer').SchedulePerformer> {
  const [{ SchedulePerformer }, { labOpener }] = await Promise.all([
    import('./performer'),
    import('./executedNotebook')
  ]);
  return new SchedulePerformer(schedules, app.commands, labOpener(app, trans), trans);
}

function addSection(
  app: JupyterFrontEnd,
  panel: ISvcPanel,
  schedules: ISvcSchedules,
  filter: { ended: boolean },
  trans: TranslationBundle,
  notebooks: INotebookTracker | null
): void {
  const { all } = schedules;
  const run = (command: string, one: IScheduleRecord): void =>
    void app.commands.execute(command, { id: one.id });
  const parts = {
    trans,
    schedules: all,
    open: (one: IScheduleRecord) => run(ScheduleCommands.open, one),
    kill: (one: IScheduleRecord) => run(ScheduleCommands.kill, one),
    menu: (one: IScheduleRecord, x: number, y: number) => menuOf(app, one, trans).open(x, y),
    showEnded: (wanted: boolean) => {
      filter.ended = wanted;
      void all.refresh();
    }
  };
  const scheduleOpen = (): void => void app.commands.execute(ScheduleCommands.schedule);
  const widget = new VisibleView(() => (
    <Suspense>
      <SchedulesSection {...parts} first={notebooks?.currentWidget ? scheduleOpen : null} />
    </Suspense>
  ));
  notebooks?.currentChanged.connect(() => widget.update());
  const section = panel.addSection({
    id: 'schedules',
    title: trans.__('Schedules'),
    rank: RANK,
    widget
  });
  all.changed.connect(() => {
    const { value = [], error } = all.state;
    const count = attentionCount(value);
    section.badge =
      error || count === 0 ? '' : trans.__('%1 of %2 need attention', count, value.length);
  });
  panel.whileShown(() => all.watch());
}

/** Return the menu of a schedule's steps; it is disposed when closed. */
function menuOf(app: JupyterFrontEnd, schedule: IScheduleRecord, trans: TranslationBundle): Menu {
  const menu = new Menu({ commands: app.commands });
  menu.title.label = trans.__('Schedule %1', schedule.name);
  menu.addItem({ command: ScheduleCommands.open, args: { id: schedule.id } });
  for (const step of stepsOf(schedule)) {
    menu.addItem({ command: ScheduleCommands[step], args: { id: schedule.id } });
  }
  menu.aboutToClose.connect(() => void requestAnimationFrame(() => menu.dispose()));
  return menu;
}

function addDetails(
  app: JupyterFrontEnd,
  service: ISvcService,
  schedules: ISvcSchedules,
  trans: TranslationBundle,
  restorer: ILayoutRestorer | null
): void {
  const tracker = new WidgetTracker<Widget>({ namespace: 'svc-jupyter-schedules' });
  app.commands.addCommand(ScheduleCommands.open, {
    label: trans.__('Show Runs and Logs'),
    describedBy: ID_ARGUMENT,
    execute: async ({ id }) => {
      const widgetId = `svc-jupyter-schedule-${Number(id)}`;
      const [{ scheduleWidget }, performer] = await Promise.all([
        import('./detailWidget'),
        performerOf(app, schedules, trans)
      ]);
      if (!tracker.find(known => known.id === widgetId)) {
        const widget = scheduleWidget(schedules, service.requests, performer, trans, Number(id));
        widget.id = widgetId;
        app.shell.add(widget, viewArea(app), { type: 'Schedule' });
        void tracker.add(widget);
      }
      app.shell.activateById(widgetId);
    }
  });
  void restorer?.restore(tracker, {
    command: ScheduleCommands.open,
    args: ({ id }) => ({ id: Number(id.split('-').at(-1)) }),
    name: ({ id }) => id
  });
}
