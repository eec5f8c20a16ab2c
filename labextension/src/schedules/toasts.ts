import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISvcPanel } from '../panel';
import type { Resource } from '../service';
import { type ITrouble, Troubles, untilNextLook } from './troubles';
import { ScheduleCommands } from './tokens';
import { alertText, type IListedSchedule, lastText } from './words';

/**
 * Tell of each run that failed, is late or takes long, with a button that shows its schedule.
 *
 * While the panel is hidden the schedules are read only when one of their runs is due or under way.
 */
export function tellOfTroubles(
  app: JupyterFrontEnd,
  panel: ISvcPanel,
  all: Resource<IListedSchedule[]>,
  trans: TranslationBundle
): void {
  const troubles = new Troubles();
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
      troubles.since(value).forEach(trouble => tellOf(app, trouble, trans));
      lookLater();
    }
  });
  panel.shownChanged.connect(lookLater);
}

function tellOf(
  app: JupyterFrontEnd,
  { schedule, alert }: ITrouble,
  trans: TranslationBundle
): void {
  const { id, name } = schedule;
  const now = new Date();
  const text = alert ? alertText(trans, alert, now) : lastText(trans, schedule, now);
  Notification.emit(trans.__('%1: %2', name, text), alert ? 'warning' : 'error', {
    autoClose: false,
    actions: [
      {
        label: trans.__('Show'),
        callback: () => void app.commands.execute(ScheduleCommands.open, { id })
      }
    ]
  });
}
