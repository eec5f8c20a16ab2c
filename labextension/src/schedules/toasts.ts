import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISvcPanel } from '../panel';
import type { Resource } from '../service';
import { Failures, untilNextLook } from './failures';
import { ScheduleCommands } from './tokens';
import { type IListedSchedule, lastText } from './words';

/**
 * Tell of each failed run, with a button that shows its schedule.
 *
 * While the panel is hidden the schedules are read only when one of their runs is due or under way.
 */
export function tellOfFailedRuns(
  app: JupyterFrontEnd,
  panel: ISvcPanel,
  all: Resource<IListedSchedule[]>,
  trans: TranslationBundle
): void {
  const failures = new Failures();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    if (document.hidden) {
      lookLater();
    } else if (!all.isWatched) {
      void all.refresh();
    }
  };
  const lookLater = (): void => {
    clearTimeout(timer);
    const wait = untilNextLook(all.state.value ?? [], new Date());
    timer = wait === null || all.isWatched ? undefined : setTimeout(look, wait);
  };
  all.changed.connect(() => {
    const { value, isLoading } = all.state;
    if (value !== undefined && !isLoading) {
      for (const schedule of failures.since(value)) {
        tellOfFailure(app, schedule, trans);
      }
      lookLater();
    }
  });
  panel.shownChanged.connect(lookLater);
}

function tellOfFailure(
  app: JupyterFrontEnd,
  schedule: IListedSchedule,
  trans: TranslationBundle
): void {
  const { id, name } = schedule;
  Notification.error(trans.__('%1: %2', name, lastText(trans, schedule, new Date())), {
    autoClose: false,
    actions: [
      {
        label: trans.__('Show'),
        callback: () => void app.commands.execute(ScheduleCommands.open, { id })
      }
    ]
  });
}
