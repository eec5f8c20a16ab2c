import type { TranslationBundle } from '@jupyterlab/translation';
import { type ICommand, secondsTaken } from '../service/records/commands';
import type { IActionRecord, IScheduleRecord } from '../service/records/schedules';
import { waitingCommand } from '../statuses';
import { clock, day, elapsed, firstLine, span, timeText } from '../words';
import { argumentsIn } from './arguments';
import { momentOf } from './times';
import { reasonOf, wordOf } from './words';

/** A run of a schedule: one of its actions, or a command that somebody ran by hand. */
export interface IRun {
  /** Unique among the runs of a schedule. */
  readonly key: string;
  /** Null for a run by hand. */
  readonly action: IActionRecord | null;
  /** Null until it has one. */
  readonly command: ICommand | null;
  readonly commandId: number | null;
  readonly status: string;
  readonly isDone: boolean;
  readonly hasFailed: boolean;
  /** Seconds; null for a run that has not started or not ended. */
  readonly seconds: number | null;
}

const FAILURES: ReadonlySet<string> = new Set(['error', 'not_found']);
const ENDS: ReadonlySet<string> = new Set(['done', 'error', 'cancelled']);

/** Return a schedule's runs, newest first. */
export function runsOf(actions: readonly IActionRecord[], byHand: readonly ICommand[]): IRun[] {
  const made = [...actions.map(ofAction), ...byHand.map(ofCommand)];
  const age = (run: IRun): string => run.action?.created_at ?? run.command?.created_at ?? '';
  return made.sort(
    (one, other) =>
      age(other).localeCompare(age(one)) || (other.action?.id ?? 0) - (one.action?.id ?? 0)
  );
}

function ofAction(action: IActionRecord): IRun {
  const command = action.command ?? null;
  return {
    key: `action-${action.id}`,
    action,
    command,
    commandId: action.query_hist_id,
    status: action.status,
    isDone: action.done,
    hasFailed: FAILURES.has(action.status),
    seconds: command && secondsTaken(command)
  };
}

function ofCommand(command: ICommand): IRun {
  return {
    key: `command-${command.id}`,
    action: null,
    command,
    commandId: command.id,
    status: command.status,
    isDone: ENDS.has(command.status),
    hasFailed: FAILURES.has(command.status),
    seconds: secondsTaken(command)
  };
}

/** Return what a run was for: `today 09:00`, `Sat 22 Nov 09:00`, `by hand`. */
export function forText(trans: TranslationBundle, run: IRun, now: Date): string {
  const { action } = run;
  if (action === null) {
    return trans.__('by hand');
  }
  const moment = momentOf(action.nominal_time, 'UTC');
  const text =
    moment === null
      ? action.nominal_time
      : day(moment, now) === day(now, now)
        ? trans.__('today %1', clock(moment))
        : timeText(moment, now);
  return action.rerun_number > 0 ? trans.__('%1, again', text) : text;
}

/** Return when a run started, with seconds: the time of the day it was for, else with the date; empty before. */
export function startedText(run: IRun, now: Date): string {
  const start = run.command?.start_time;
  if (typeof start !== 'number') {
    return '';
  }
  const planned = run.action && momentOf(run.action.nominal_time, 'UTC');
  return timeText(new Date(1000 * start), planned ?? now, { seconds: true });
}

/** Return how long a run took, or has taken so far; empty before its start. */
export function tookText(trans: TranslationBundle, run: IRun, now: Date): string {
  if (run.seconds !== null) {
    return elapsed(trans, run.seconds);
  }
  const start = run.command?.start_time;
  return typeof start === 'number' && !run.isDone ? span(trans, now.getTime() / 1000 - start) : '';
}

/** Return a run's status in one word, or few: `done`, `waiting for its dependencies`. */
export function statusWord(trans: TranslationBundle, { action, command, ...run }: IRun): string {
  if (action !== null) {
    return wordOf(trans, action);
  }
  return command?.status === 'waiting'
    ? waitingCommand(trans)
    : wordOf(trans, { status: run.status, query_hist_id: run.commandId });
}

/** Return a run's status in words: `done`, `done · attempt 2 of 3`, `failed · cell 5: KeyError: 'EU'`. */
export function statusText(trans: TranslationBundle, run: IRun): string {
  const { action, command } = run;
  const attempts = command?.attempts?.length ?? 0;
  const parts = [
    statusWord(trans, run),
    attempts > 1
      ? trans.__('attempt %1 of %2', attempts, Math.max(attempts, (command?.retry ?? 0) + 1))
      : '',
    action ? reasonOf(trans, action) : firstLine(command?.message)
  ];
  return parts.filter(part => part !== '').join(' · ');
}

/**
 * Return the parameters of a run, or of a schedule for null: `region = EU, day = 2026-11-22`; empty for none. A run has
 * its macros' values in their place.
 */
export function parametersText(run: IRun | null, schedule: IScheduleRecord): string {
  const given = argumentsIn(run?.command?.command ?? schedule.command);
  const macros = new Map<string, string>();
  for (const [name, value] of (run?.command?.resolved_macros ?? []).flatMap(Object.entries)) {
    macros.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  const resolved = (value: unknown): string =>
    String(value).replace(/\$(\w+)\$/g, (text, name: string) => macros.get(name) ?? text);
  return Object.entries(given)
    .map(([name, value]) => `${name} = ${resolved(value)}`)
    .join(', ');
}

/** Return `last 30 runs: 28 done, 1 failed, 1 by hand · median 4 s, slowest 1 min 12 s`. */
export function summaryOfRuns(trans: TranslationBundle, runs: readonly IRun[]): string {
  const count = (wanted: (run: IRun) => boolean): number => runs.filter(wanted).length;
  const failed = count(run => run.hasFailed);
  const cancelled = count(run => run.status === 'cancelled');
  const byHand = count(run => run.action === null && run.status === 'done');
  const done = count(run => run.action !== null && run.status === 'done');
  const open = count(run => !run.isDone);
  const counts = [
    done > 0 && trans.__('%1 done', done),
    failed > 0 && trans.__('%1 failed', failed),
    cancelled > 0 && trans.__('%1 cancelled', cancelled),
    open > 0 && trans.__('%1 under way', open),
    byHand > 0 && trans.__('%1 by hand', byHand)
  ].filter(Boolean);
  const sorted = runs
    .flatMap(run => (run.seconds === null ? [] : [run.seconds]))
    .sort((one, other) => one - other);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  const slowest = sorted.at(-1);
  const words = trans._n('last run: %2', 'last %1 runs: %2', runs.length, counts.join(', '));
  return median === undefined || slowest === undefined
    ? words
    : trans.__(
        '%1 · median %2, slowest %3',
        words,
        elapsed(trans, median),
        elapsed(trans, slowest)
      );
}
