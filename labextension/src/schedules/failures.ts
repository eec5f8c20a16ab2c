import { type IListedSchedule, needsAttention, nextRun } from './words';

/** Knows the newest failed run of each schedule, to find those that are new. */
export class Failures {
  /** The key of each schedule's newest run; null before the first look. */
  private _known: Map<number, string> | null = null;

  /** Return the schedules whose newest run has failed since the last look; none at the first look. */
  since(schedules: readonly IListedSchedule[]): IListedSchedule[] {
    const before = this._known;
    const failed = schedules.filter(needsAttention);
    this._known = new Map(failed.map(schedule => [schedule.id, keyOf(schedule)]));
    return before === null ? [] : failed.filter(one => before.get(one.id) !== keyOf(one));
  }
}

function keyOf({ last_by_hand: byHand, last_action: last }: IListedSchedule): string {
  return byHand ? `command ${byHand.id}` : `action ${last?.id ?? ''}`;
}

/** How soon a run that is under way is looked at again, and the least time between two looks, in milliseconds. */
const SOON = 30_000;
/** Timers cannot be longer than 24 days; half a day is enough. */
const LATEST = 12 * 3_600_000;

/** Return the milliseconds until schedules that nobody sees are worth a look: when a run is due or under way. */
export function untilNextLook(schedules: readonly IListedSchedule[], now: Date): number | null {
  const waits = schedules.flatMap(schedule => {
    const isUnderWay =
      schedule.last_by_hand?.status === 'running' || schedule.last_action?.status === 'running';
    const next = nextRun(schedule);
    return isUnderWay ? [SOON] : next ? [next.getTime() + SOON - now.getTime()] : [];
  });
  return waits.length === 0 ? null : Math.min(Math.max(Math.min(...waits), SOON), LATEST);
}
