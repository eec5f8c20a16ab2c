import type { IRecentRun, IScheduleRecord } from '../service/records/schedules';
import { nextRun } from '../schedules/words';

const FAILURES: ReadonlySet<string> = new Set(['error', 'not_found']);
const LATER = Number.MAX_SAFE_INTEGER;

/** A line of the timeline: a schedule and its runs. */
export interface ILine {
  id: number;
  name: string;
  /** Null for a schedule that has ended. */
  schedule: IScheduleRecord | null;
  /** Newest first. */
  runs: readonly IRecentRun[];
  failed: number;
}

/** Return whether a run failed. */
export function hasFailed(run: IRecentRun): boolean {
  return FAILURES.has(run.status);
}

/** Return when a run began, or, before that, was made. */
export function beginOf(run: IRecentRun): Date {
  return new Date(run.start_time === null ? run.created_at : 1000 * run.start_time);
}

/** Return a key of a run, unique among all of them. */
export function keyOf(run: IRecentRun): string {
  return run.action_id === null ? `command-${run.command_id}` : `action-${run.action_id}`;
}

/**
 * Return the lines of the schedules that are not over or have run: first those whose last run failed, then those with
 * another failure, then by next run.
 */
export function linesOf(
  schedules: readonly IScheduleRecord[],
  runs: readonly IRecentRun[]
): ILine[] {
  const open = schedules.filter(one => one.status === 'RUNNING' || one.status === 'SUSPENDED');
  const lines = new Map<number, ILine & { runs: IRecentRun[] }>(
    open.map(one => [one.id, { id: one.id, name: one.name, schedule: one, runs: [], failed: 0 }])
  );
  const names = new Map(schedules.map(one => [one.id, one.name]));
  for (const run of runs) {
    const { schedule_id: id } = run;
    const name = names.get(id) ?? run.name ?? String(id);
    const line = lines.get(id) ?? { id, name, schedule: null, runs: [], failed: 0 };
    lines.set(id, line);
    line.runs.push(run);
    line.failed += Number(hasFailed(run));
  }
  const keyed = [...lines.values()].map(line => ({ line, rank: rankOf(line), next: nextOf(line) }));
  keyed.sort(
    (one, other) => one.rank - other.rank || one.next - other.next || other.line.id - one.line.id
  );
  return keyed.map(({ line }) => line);
}

function rankOf({ runs: [last], failed, schedule }: ILine): number {
  if (last && hasFailed(last)) {
    return 0;
  }
  return failed > 0 ? 1 : schedule === null ? 3 : 2;
}

function nextOf({ schedule }: ILine): number {
  return (schedule && nextRun(schedule)?.getTime()) ?? LATER;
}

/** Return runs for a list by day, the newest day first, and of a day the failed ones first. */
export function byDay(runs: readonly IRecentRun[]): IRecentRun[] {
  const keyed = runs.map(run => {
    const begin = beginOf(run);
    return { run, begin: begin.getTime(), day: midnight(begin).getTime() };
  });
  keyed.sort(
    (one, other) =>
      other.day - one.day ||
      Number(hasFailed(other.run)) - Number(hasFailed(one.run)) ||
      other.begin - one.begin
  );
  return keyed.map(({ run }) => run);
}

/** Return the begin of a time's day, some days later. */
export function midnight(moment: Date, days = 0): Date {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate() + days);
}
