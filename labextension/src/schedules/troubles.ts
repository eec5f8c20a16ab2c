import type { IRunAlert } from '../service/records/schedules';
import { alertsOf, hasFailed, type IListedSchedule, nextRun } from './words';

/** A run that somebody should look at: the newest of its schedule has failed, or, with an alert, one goes on too long. */
export interface ITrouble {
  readonly schedule: IListedSchedule;
  readonly alert: IRunAlert | null;
}

/** Knows the runs that somebody should look at, to find those that are new. */
export class Troubles {
  /** Null before the first look. */
  private _known: ReadonlySet<string> | null = null;

  /** Return what has failed, or become late or slow, since the last look; nothing at the first look. */
  since(schedules: readonly IListedSchedule[]): ITrouble[] {
    const before = this._known;
    const found = schedules.flatMap((schedule): ITrouble[] => [
      ...(hasFailed(schedule) ? [{ schedule, alert: null }] : []),
      ...alertsOf(schedule).map(alert => ({ schedule, alert }))
    ]);
    this._known = new Set(found.map(keyOf));
    return before === null ? [] : found.filter(one => !before.has(keyOf(one)));
  }
}

function keyOf({ schedule, alert }: ITrouble): string {
  const { id, last_by_hand: byHand, last_action: last } = schedule;
  if (alert !== null) {
    // runs that were due at the same moment are one trouble
    return `${id} ${alert.alert} ${alert.alert === 'late' ? alert.since : alert.action_id}`;
  }
  return byHand ? `${id} command ${byHand.id}` : `${id} action ${last?.id ?? ''}`;
}

/** How soon a run that is under way is looked at again, and the least time between two looks, in milliseconds. */
const SOON = 30_000;
/** Timers cannot be longer than 24 days; half a day is enough. */
const LATEST = 12 * 3_600_000;

/** Return the milliseconds until schedules that nobody sees are worth a look: when a run is due or under way. */
export function untilNextLook(schedules: readonly IListedSchedule[], now: Date): number | null {
  const waits = schedules.flatMap(schedule => {
    const { last_by_hand: byHand, last_action: last } = schedule;
    const mayBeLate = Boolean(schedule.due_by) && last?.done === false;
    const isUnderWay = byHand?.status === 'running' || last?.status === 'running' || mayBeLate;
    const next = nextRun(schedule);
    return isUnderWay ? [SOON] : next ? [next.getTime() + SOON - now.getTime()] : [];
  });
  return waits.length === 0 ? null : Math.min(Math.max(Math.min(...waits), SOON), LATEST);
}
