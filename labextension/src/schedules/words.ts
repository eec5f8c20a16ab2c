import type { TranslationBundle } from '@jupyterlab/translation';
import type {
  IActionRecord,
  ILastAction,
  IScheduleRecord,
  TimeUnit
} from '../service/records/schedules';
import { waitingCommand, wordsOfActions, wordsOfSchedules } from '../statuses';
import { momentOf, shortTime } from './times';

const FAILURES: ReadonlySet<string> = new Set(['error', 'not_found']);

/** Return the word for an action's status; with a command, `waiting` means that the command waits. */
export function wordOf(trans: TranslationBundle, action: ILastAction): string {
  if (action.query_hist_id !== null && action.status === 'waiting') {
    return waitingCommand(trans);
  }
  return wordsOfActions(trans).get(action.status) ?? action.status;
}

/** Return whether a schedule's last run failed, so that it needs attention. */
export function needsAttention(schedule: IScheduleRecord): boolean {
  return !!schedule.last_action && FAILURES.has(schedule.last_action.status);
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
  if (next) {
    return trans.__('next %1', shortTime(next, now));
  }
  const words: Record<string, string> = {
    SUSPENDED: trans.__('suspended'),
    DONE: trans.__('ended: its end time has passed'),
    KILLED: trans.__('ended: it was killed')
  };
  return words[schedule.status] ?? trans.__('no next run');
}

/** Return `last run failed 09:00`; empty when there was none. */
export function lastText(trans: TranslationBundle, schedule: IScheduleRecord, now: Date): string {
  const last = schedule.last_action;
  if (!last) {
    return schedule.last_action === null ? trans.__('not run yet') : '';
  }
  const when = momentOf(last.nominal_time, 'UTC');
  return trans.__('last run %1 %2', wordOf(trans, last), when ? shortTime(when, now) : '').trim();
}

/** Return the word for a schedule's status. */
export function scheduleWord(trans: TranslationBundle, schedule: IScheduleRecord): string {
  return wordsOfSchedules(trans).get(schedule.status) ?? schedule.status;
}

/** Return the status of a schedule in a list: while it is active its last run's, else its own. */
export function shownStatus(schedule: IScheduleRecord): string {
  if (schedule.status === 'RUNNING') {
    return schedule.last_action?.status ?? 'submitted';
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
