import { type IListedSchedule, needsAttention, nextRun } from './words';

const LATER = Number.MAX_SAFE_INTEGER;
const GROUPS = { RUNNING: 1, SUSPENDED: 2, DONE: 3, KILLED: 3 } as const;

/** Return schedules in display order: failures, then by next run, then inactive ones. */
export function inOrder<T extends IListedSchedule>(schedules: readonly T[]): T[] {
  const keyed = schedules.map(one => ({ one, key: keyOf(one) }));
  keyed.sort(
    (first, second) =>
      first.key.group - second.key.group ||
      first.key.next - second.key.next ||
      second.one.id - first.one.id
  );
  return keyed.map(({ one }) => one);
}

function keyOf(schedule: IListedSchedule): { group: number; next: number } {
  const isOpen = schedule.status === 'RUNNING' || schedule.status === 'SUSPENDED';
  const group = isOpen && needsAttention(schedule) ? 0 : GROUPS[schedule.status];
  return { group, next: nextRun(schedule)?.getTime() ?? LATER };
}

/** Return the number of unfinished schedules that need attention. */
export function attentionCount(schedules: readonly IListedSchedule[]): number {
  return schedules.filter(
    one => needsAttention(one) && (one.status === 'RUNNING' || one.status === 'SUSPENDED')
  ).length;
}
