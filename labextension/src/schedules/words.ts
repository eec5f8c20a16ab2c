import type { TranslationBundle } from '@jupyterlab/translation';
import type { ICommand } from '../service/records/commands';
import type {
  IActionRecord,
  ILastAction,
  IRunAlert,
  IScheduleRecord,
  TimeUnit
} from '../service/records/schedules';
import { waitingCommand, wordsOfActions, wordsOfSchedules } from '../statuses';
import { timeText } from '../words';
import { momentOf } from './times';

const FAILURES: ReadonlySet<string> = new Set(['error', 'not_found']);

/** Return the word for an action's status; with a command, `waiting` means that the command waits. */
export function wordOf(
  trans: TranslationBundle,
  action: Pick<ILastAction, 'status' | 'query_hist_id'>
): string {
  if (action.query_hist_id !== null && action.status === 'waiting') {
    return waitingCommand(trans);
  }
  return wordsOfActions(trans).get(action.status) ?? action.status;
}

/** A schedule in a list, with its newest run by hand if that is its newest run. */
export type IListedSchedule = IScheduleRecord & { last_by_hand?: ICommand };

/**
 * Return a schedule with its newest run by hand, if no action is newer: its command has started after that one, or the
 * action was for an earlier time.
 */
export function withByHand(
  schedule: IScheduleRecord,
  command: ICommand | undefined
): IListedSchedule {
  const last = schedule.last_action;
  const isNewer =
    command !== undefined &&
    (!last ||
      (last.query_hist_id === null
        ? last.nominal_time < command.created_at
        : last.query_hist_id < command.id));
  return isNewer ? { ...schedule, last_by_hand: command } : schedule;
}

/** Return whether a schedule's last run failed, scheduled or by hand. */
export function hasFailed({ last_action: last, last_by_hand: byHand }: IListedSchedule): boolean {
  const status = byHand?.status ?? last?.status;
  return status !== undefined && FAILURES.has(status);
}

/** Return whether somebody should look at a schedule: its last run failed, or a run is late or takes long. */
export function needsAttention(schedule: IListedSchedule): boolean {
  return hasFailed(schedule) || alertsOf(schedule).length > 0;
}

/** Return the alerts of a schedule's runs; of a service that knows none, none. */
export function alertsOf(schedule: IScheduleRecord): readonly IRunAlert[] {
  return schedule.alerts ?? [];
}

/** Return `the run for 02:00 is late, due by 08:00`, or that it takes longer than usual. */
export function alertText(trans: TranslationBundle, alert: IRunAlert, now: Date): string {
  const at = (text: string): string => {
    const moment = momentOf(text, 'UTC');
    return moment ? timeText(moment, now) : text;
  };
  return alert.alert === 'late'
    ? trans.__('the run for %1 is late, due by %2', at(alert.nominal_time), at(alert.since))
    : trans.__('the run for %1 takes longer than usual', at(alert.nominal_time));
}

/** Return `due by 08:00, over 3 × median`: what makes a run late or slow; empty for no alerts. */
export function alertLimits(trans: TranslationBundle, dueBy: string, longerThan: string): string {
  return [
    dueBy === '' ? '' : trans.__('due by %1', dueBy),
    longerThan === '' ? '' : trans.__('over %1 × median', longerThan)
  ]
    .filter(part => part !== '')
    .join(', ');
}

/** Return whether a schedule has a text in lower case: in its name, id, cluster, tags, or a text of what it runs. */
export function has(schedule: IScheduleRecord, text: string): boolean {
  const { id, name, label, tags, command } = schedule;
  return textsIn([String(id), name, label, tags, command]).some(one =>
    one.toLowerCase().includes(text)
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
}

/** Return when a schedule runs next; null when it does not. */
export function nextRun(schedule: IScheduleRecord): Date | null {
  return schedule.status === 'RUNNING'
    ? momentOf(schedule.next_materialized_time, schedule.time_zone)
    : null;
}

/** Return `next Sat 22 Nov 09:00`, or why there is no next run. */
export function nextText(trans: TranslationBundle, schedule: IScheduleRecord, now: Date): string {
  const next = nextRun(schedule);
  if (next && next <= now) {
    return trans.__('the next run is due now');
  }
  if (next) {
    return trans.__('next %1', timeText(next, now));
  }
  const words: Record<string, string> = {
    SUSPENDED: trans.__('suspended'),
    DONE: trans.__('ended: its end time has passed'),
    KILLED: trans.__('ended by hand')
  };
  return words[schedule.status] ?? trans.__('no next run');
}

/** Return `last run failed 09:00`; empty when there was none. */
export function lastText(trans: TranslationBundle, schedule: IListedSchedule, now: Date): string {
  const byHand = schedule.last_by_hand;
  if (byHand) {
    const word =
      byHand.status === 'waiting'
        ? waitingCommand(trans)
        : (wordsOfActions(trans).get(byHand.status) ?? byHand.status);
    const when = timeText(new Date(1000 * (byHand.start_time ?? byHand.submit_time)), now);
    return trans.__('run by hand %1 %2', word, when);
  }
  const last = schedule.last_action;
  if (!last) {
    return schedule.last_action === null ? trans.__('not run yet') : '';
  }
  const when = momentOf(last.nominal_time, 'UTC');
  return trans.__('last run %1 %2', wordOf(trans, last), when ? timeText(when, now) : '').trim();
}

/** Return the word for a schedule's status. */
export function scheduleWord(trans: TranslationBundle, schedule: IScheduleRecord): string {
  return wordsOfSchedules(trans).get(schedule.status) ?? schedule.status;
}

/** Return the status of a schedule in a list: while it is active its last run's, else its own. */
export function shownStatus(schedule: IListedSchedule): string {
  if (schedule.status === 'RUNNING') {
    return schedule.last_by_hand?.status ?? schedule.last_action?.status ?? 'submitted';
  }
  return schedule.status === 'SUSPENDED' ? 'suspended' : 'ended';
}

/** Return a schedule's timetable: the service's sentence, or one generated here. */
export function timetableText(trans: TranslationBundle, schedule: IScheduleRecord): string {
  if (schedule.description) {
    return schedule.description;
  }
  const zone = schedule.time_zone || 'UTC';
  if (schedule.cron_expression) {
    return trans.__('cron %1 (%2)', schedule.cron_expression, zone);
  }
  return `${intervalText(trans, schedule.frequency ?? 1, schedule.time_unit ?? 'days')} (${zone})`;
}

/** Return `every day`, `every 2 hours`. */
export function intervalText(trans: TranslationBundle, every: number, unit: TimeUnit): string {
  switch (unit) {
    case 'minutes':
      return trans._n('every minute', 'every %1 minutes', every);
    case 'hours':
      return trans._n('every hour', 'every %1 hours', every);
    case 'days':
      return trans._n('every day', 'every %1 days', every);
    case 'weeks':
      return trans._n('every week', 'every %1 weeks', every);
    case 'months':
      return trans._n('every month', 'every %1 months', every);
  }
}

/** Return why an action waits or failed, in one line; empty when its status says it all. */
export function reasonOf(trans: TranslationBundle, action: IActionRecord): string {
  if (action.message && action.message !== action.status) {
    return action.message.split('\n', 1)[0] ?? '';
  }
  const missing = action.dependencies.not_found;
  const [first, ...others] = missing;
  if (first === undefined || action.query_hist_id !== null) {
    return '';
  }
  return others.length > 0
    ? trans.__('missing: %1 and %2 more', first, others.length)
    : trans.__('missing: %1', first);
}

/** Return a schedule's name in messages: its name, with the id unless that is the name. */
export function nameOf(schedule: IScheduleRecord): string {
  return schedule.name === String(schedule.id)
    ? schedule.name
    : `${schedule.name} (${schedule.id})`;
}
