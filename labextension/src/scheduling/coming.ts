import type { TranslationBundle } from '@jupyterlab/translation';
import { isZone, momentOf } from '../schedules/times';
import { nextText } from '../schedules/words';
import type { IScheduleRecord } from '../service/records/schedules';
import { clock, day } from '../words';

/** Return the times of a preview that are still to come. */
export function comingTimes(times: readonly string[], now: Date): Date[] {
  return times
    .map(text => momentOf(text, 'UTC'))
    .filter((moment): moment is Date => moment !== null && moment > now);
}

/** Return `Sat 22 Nov 09:00 (Europe/Paris)`: the next run on the clock of the schedule. */
export function nextTime(moment: Date, now: Date, name: string): string {
  const zone = isZone(name) ? name : 'UTC'; // the service may know zones that this browser does not
  return `${day(moment, now, { zone })} ${clock(moment, { zone })} (${zone})`;
}

/**
 * Return what a message says of the next run of a schedule that was just made or changed.
 *
 * @param previewed - The next times that the form showed: one that counts from a start in the past has missed runs to
 * make up for, so that its own next time has passed.
 */
export function comingText(
  trans: TranslationBundle,
  schedule: IScheduleRecord,
  previewed: readonly string[],
  now: Date
): string {
  const zone = schedule.time_zone;
  const own = momentOf(schedule.next_materialized_time, zone);
  const next = own && own > now ? own : comingTimes(previewed, now)[0];
  return schedule.status === 'RUNNING' && own && next
    ? trans.__('next %1', nextTime(next, now, zone))
    : nextText(trans, schedule, now);
}
