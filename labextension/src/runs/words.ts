import type { TranslationBundle } from '@jupyterlab/translation';
import { momentOf } from '../schedules/times';
import { nextText, timetableText, wordOf } from '../schedules/words';
import { secondsTaken } from '../service/records/commands';
import type { IRecentRun } from '../service/records/schedules';
import { clock, elapsed, span, timeText } from '../words';
import { hasFailed, type ILine } from './lines';
import type { IMark } from './marks';

/** Return a run's status and the first line of its reason. */
export function statusText(trans: TranslationBundle, run: IRecentRun): string {
  const word = wordOf(trans, { status: run.status, query_hist_id: run.command_id });
  const [reason = ''] = (run.message ?? '').split('\n', 1);
  return reason === '' || reason === run.status ? word : `${word} · ${reason}`;
}

/** Return what a run was for: `for 09:00`, `again for Sat 22 Nov 09:00`, `by hand`. */
export function forText(trans: TranslationBundle, run: IRecentRun, now: Date): string {
  const moment = momentOf(run.nominal_time, 'UTC');
  if (moment === null) {
    return trans.__('by hand');
  }
  const text = timeText(moment, now);
  return run.rerun_number > 0 ? trans.__('again for %1', text) : trans.__('for %1', text);
}

/** Return how long a run took, or has taken so far; empty before its start. */
export function tookText(trans: TranslationBundle, run: IRecentRun, now: Date): string {
  if (run.start_time === null) {
    return '';
  }
  const seconds = secondsTaken(run);
  return seconds === null
    ? span(trans, now.getTime() / 1000 - run.start_time)
    : elapsed(trans, seconds);
}

/** Return `3 failed · 1 under way · 124 done`. */
export function summary(trans: TranslationBundle, runs: readonly IRecentRun[]): string {
  const failed = runs.filter(hasFailed).length;
  const open = runs.filter(run => !run.done).length;
  const done = runs.filter(run => run.status === 'done').length;
  const cancelled = runs.filter(run => run.status === 'cancelled').length;
  return [
    failed > 0 && trans.__('%1 failed', failed),
    open > 0 && trans.__('%1 under way', open),
    done > 0 && trans.__('%1 done', done),
    cancelled > 0 && trans.__('%1 cancelled', cancelled)
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Return what a line shows, in words. */
export function lineText(trans: TranslationBundle, line: ILine, now: Date): string {
  const { schedule } = line;
  return [
    line.runs.length === 0 ? trans.__('no run in the last seven days') : summary(trans, line.runs),
    schedule === null ? trans.__('ended') : timetableText(trans, schedule),
    schedule === null ? '' : nextText(trans, schedule, now)
  ]
    .filter(text => text !== '')
    .join(' · ');
}

/** Return what a mark shows, in words. */
export function markText(trans: TranslationBundle, mark: IMark, now: Date): string {
  const { run, count, failed, begin } = mark;
  const from = timeText(begin, now);
  if (run === null) {
    return count === 1
      ? trans.__('planned for %1', from)
      : trans.__('%1 runs planned from %2 on', count, from);
  }
  if (count === 1) {
    return [from, statusText(trans, run), tookText(trans, run, now)]
      .filter(text => text !== '')
      .join(' · ');
  }
  const counts =
    failed > 0 ? trans.__('%1 runs, %2 failed', count, failed) : trans.__('%1 runs', count);
  return trans.__('%1 from %2 on', counts, from);
}

/** Return the time of a row under the heading of its day. */
export function rowTime(begin: Date): string {
  return clock(begin);
}
