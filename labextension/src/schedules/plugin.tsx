import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import { Menu, type Widget } from '@lumino/widgets';
import { notifyError } from '../notices';
import { ISvcPanel, Loaded, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, Resource, TRANSLATION_DOMAIN } from '../service';
import type { ICommand } from '../service/records/commands';
import type { IScheduleRecord } from '../service/records/schedules';
import { ScheduleCalls } from './calls';
import { NotebookSchedules } from './notebookSchedules';
import { attentionCount, inOrder } from './order';
import { type Step, stepLabel, stepsOf } from './steps';
import { tellOfTroubles } from './toasts';
import { ISvcSchedules, ScheduleCommands } from './tokens';
import { type IListedSchedule, withByHand } from './words';

const RANK = 20;
const INTERVAL = 10_000;
const STEPS: readonly Step[] = ['edit', 'run', 'suspend', 'resume', 'kill'];
/** The steps that are buttons in the head of a schedule's view. */
const HEAD_STEPS: readonly Step[] = ['edit', 'run', 'suspend', 'resume'];
const sectionCode = (): Promise<typeof import('./section')> => import('./section');
const ID_ARGUMENT = {
  args: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] }
} as const;
const OPEN_ARGUMENTS = {
  args: {
    type: 'object',
    properties: { id: { type: 'number' }, preview: { type: 'boolean' } },
    required: ['id']
  }
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
    addDetails(app, panel, service, schedules, trans, restorer);
    addSection(app, panel, schedules, filter, trans, notebooks);
    tellOfTroubles(app, panel, schedules.all, trans);
    return schedules;
  }
};

function sharedSchedules(service: ISvcService, filter: { ended: boolean }): ISvcSchedules {
  const calls = new ScheduleCalls(service.requests);

  const all = new Resource<IListedSchedule[]>({
    name: 'schedules',
    fetch: async signal => {
      const [listed, byHand] = await Promise.all([
        calls.all(filter.ended, signal),
        calls.newestByHand(signal).catch(() => new Map<number, ICommand>()) // the list goes without
      ]);
      return inOrder(listed.map(one => withByHand(one, byHand.get(one.id))));
    },
    interval: INTERVAL
  });
  const ofNotebooks = new NotebookSchedules(calls);
  const show = (schedule: IScheduleRecord): void => {
    const { value } = all.state;
    if (value) {
      const known = value.find(one => one.id === schedule.id); // it has the last run by hand as well
      all.set(inOrder([...value.filter(one => one !== known), { ...known, ...schedule }]));
    }
  };
  const changed = (): void => {
    ofNotebooks.refreshAll();
    if (all.isWatched) {
      void all.refresh();
    }
  };
  return { calls, all, ofNotebooks, show, changed };
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
          notifyError(reason);
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
  const parts = {
    trans,
    schedules: all,
    open: ({ id }: IScheduleRecord, preview: boolean) =>
      void app.commands.execute(ScheduleCommands.open, { id, preview }),
    kill: ({ id }: IScheduleRecord) => void app.commands.execute(ScheduleCommands.kill, { id }),
    menu: (one: IScheduleRecord, x: number, y: number) => menuOf(app, one, trans).open(x, y),
    showEnded: (wanted: boolean) => {
      filter.ended = wanted;
      void all.refresh();
    }
  };
  const scheduleOpen = (): void => void app.commands.execute(ScheduleCommands.schedule);
  const widget = new VisibleView(() => (
    <Loaded load={sectionCode} trans={trans}>
      {({ SchedulesSection }) => (
        <UseSignal signal={panel.searchChanged}>
          {() => (
            <SchedulesSection
              {...parts}
              search={panel.search}
              first={notebooks?.currentWidget ? scheduleOpen : null}
            />
          )}
        </UseSignal>
      )}
    </Loaded>
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
    section.tone = 'attention';
    section.badge =
      error || count === 0 ? '' : trans.__('%1 of %2 need attention', count, value.length);
  });
  panel.whileShown(() => all.watch());
  panel.refreshRequested.connect(() => void all.refresh());
}

/** Return the menu of a schedule's steps, but those that have buttons beside it; it is disposed when closed. */
function menuOf(
  app: JupyterFrontEnd,
  schedule: IScheduleRecord,
  trans: TranslationBundle,
  without: readonly Step[] = []
): Menu {
  const menu = new Menu({ commands: app.commands });
  menu.title.label = trans.__('Schedule %1', schedule.name);
  if (without.length === 0) {
    menu.addItem({ command: ScheduleCommands.open, args: { id: schedule.id } });
  }
  for (const step of stepsOf(schedule).filter(one => !without.includes(one))) {
    menu.addItem({ command: ScheduleCommands[step], args: { id: schedule.id } });
  }
  menu.aboutToClose.connect(() => void requestAnimationFrame(() => menu.dispose()));
  return menu;
}

function addDetails(
  app: JupyterFrontEnd,
  panel: ISvcPanel,
  service: ISvcService,
  schedules: ISvcSchedules,
  trans: TranslationBundle,
  restorer: ILayoutRestorer | null
): void {
  const tracker = new WidgetTracker<Widget>({ namespace: 'svc-jupyter-schedules' });
  app.commands.addCommand(ScheduleCommands.open, {
    label: trans.__('Show runs and logs'),
    describedBy: OPEN_ARGUMENTS,
    execute: async ({ id, preview }) => {
      const widgetId = `svc-jupyter-schedule-${Number(id)}`;
      const make = async (): Promise<Widget> => {
        const [{ scheduleWidget }, performer] = await Promise.all([
          import('./detailWidget'),
          performerOf(app, schedules, trans)
        ]);
        const menu = (one: IScheduleRecord, x: number, y: number): void => {
          menuOf(app, one, trans, HEAD_STEPS).open(x, y);
        };
        const widget = scheduleWidget(
          schedules,
          service.requests,
          performer,
          menu,
          trans,
          Number(id)
        );
        widget.id = widgetId;
        await tracker.add(widget);
        return widget;
      };
      await panel.openView(widgetId, make, preview === true);
    }
  });
  void restorer?.restore(tracker, {
    command: ScheduleCommands.open,
    args: ({ id }) => ({ id: Number(id.split('-').at(-1)) }),
    name: ({ id }) => id
  });
}
