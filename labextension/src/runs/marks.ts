import type { IRecentRun } from '../service/records/schedules';
import { beginOf, hasFailed, midnight } from './lines';

/** The days shown before and after today. */
export const DAYS = 7;
const ALL_DAYS = 2 * DAYS + 1;
/** Each day of the timeline has slots of six hours: as wide as an icon where the page is wide. */
const SLOTS_PER_DAY = 4;
/** The slots of the timeline. */
export const SLOTS = ALL_DAYS * SLOTS_PER_DAY;
const HOUR = 3_600_000;

/** What begins in a slot of a line. */
export interface IMark {
  slot: number;
  /** How many slots it takes: more than one for a long run. */
  slots: number;
  /** The run that is shown: the newest of those that failed, else of those under way, else of all. Null for planned ones. */
  run: IRecentRun | null;
  count: number;
  failed: number;
  /** When the first one begins. */
  begin: Date;
}

/** The marks of a line; from `further` on more runs are planned than the service has told. */
export interface IMarks {
  marks: IMark[];
  further: number | null;
}

/** Return the slot of a time, which is before 0 or after the last one for a time that is not shown. */
export function slotOf(moment: Date, now: Date): number {
  // A day has 23 or 25 hours when the clocks change.
  const days = Math.round(
    (midnight(moment).getTime() - midnight(now, -DAYS).getTime()) / (24 * HOUR)
  );
  return days * SLOTS_PER_DAY + Math.floor((moment.getHours() * SLOTS_PER_DAY) / 24);
}

/** Return the marks of a line's runs, newest first, and of its planned times, oldest first. */
export function marksOf(
  runs: readonly IRecentRun[],
  planned: readonly string[],
  isAll: boolean,
  now: Date
): IMarks {
  const marks = new Map<string, IMark>();
  for (const run of runs) {
    const begin = beginOf(run);
    const slot = slotOf(begin, now);
    const end = run.end_time === null ? (run.done ? begin : now) : new Date(1000 * run.end_time);
    const known = marks.get(`run ${slot}`);
    const slots = Math.max(1, slotOf(end, now) - slot + 1, known?.slots ?? 1);
    marks.set(`run ${slot}`, {
      slot,
      slots,
      run: known?.run && rankOf(known.run) <= rankOf(run) ? known.run : run,
      count: 1 + (known?.count ?? 0),
      failed: Number(hasFailed(run)) + (known?.failed ?? 0),
      begin
    });
  }
  let last: number | null = null;
  for (const text of planned) {
    const begin = new Date(text);
    if (begin > now) {
      const slot = (last = slotOf(begin, now));
      const known = marks.get(`planned ${slot}`);
      const count = 1 + (known?.count ?? 0);
      marks.set(
        `planned ${slot}`,
        known ? { ...known, count } : { slot, slots: 1, run: null, count, failed: 0, begin }
      );
    }
  }
  const further = !isAll && last !== null && last + 1 < SLOTS ? last + 1 : null;
  const shown = [...marks.values()].filter(({ slot, slots }) => slot + slots > 0 && slot < SLOTS);
  return { marks: shown.map(within), further };
}

function within(mark: IMark): IMark {
  const slot = Math.max(mark.slot, 0);
  return { ...mark, slot, slots: Math.min(mark.slot + mark.slots, SLOTS) - slot };
}

function rankOf(run: IRecentRun): number {
  return hasFailed(run) ? 0 : run.done ? 2 : 1;
}
