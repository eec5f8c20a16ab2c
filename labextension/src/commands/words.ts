import type { TranslationBundle } from '@jupyterlab/translation';
import type { Tone } from '../list';
import {
  type CommandStatus,
  hasEnded,
  type ICommand,
  secondsBetween,
  secondsTaken
} from '../service/records/commands';
import { count, cut, elapsed, firstLine, iconOf, span, typeWord } from '../words';

/** A status for display; colour is never the only sign. */
export interface IStatusWords {
  icon: string;
  word: string;
}

/** Return the icon and the word of a status. */
export function statusWords(status: CommandStatus, trans: TranslationBundle): IStatusWords {
  const words: Readonly<Record<CommandStatus, string>> = {
    waiting: trans.__('waiting'),
    running: trans.__('running'),
    done: trans.__('done'),
    error: trans.__('failed'),
    cancelled: trans.__('cancelled')
  };
  // A service may have a status unknown to this page.
  return {
    icon: iconOf(status),
    word: (words as Record<string, string>)[status] ?? status
  };
}

/** The fields with a command's text, the most specific first. */
const TEXT_FIELDS = [
  'query',
  'inline',
  'latin_statements',
  'program',
  'cmdline',
  'sql',
  'sub_command_args',
  'script_location',
  'path'
];

/** Return a command's text as its user wrote it; empty without one. */
export function commandText(command: ICommand): string {
  const texts = TEXT_FIELDS.map(field => command.command[field]);
  return texts.find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? '';
}

/** Return the values for the names of a command's query. */
export function bindings(command: ICommand): [string, unknown][] {
  return Object.entries((command.command.bindings ?? {}) as Record<string, unknown>);
}

/** Maximum number of characters shown of a value. */
const SHOWN_VALUE = 80;

/** Return these values as text: `origin = JFK, days = 1, 2`. */
export function bindingsText(command: ICommand): string {
  return bindings(command)
    .map(
      ([name, value]) => `${name} = ${cut([value].flat().map(valueText).join(', '), SHOWN_VALUE)}`
    )
    .join(' · ');
}

function valueText(value: unknown): string {
  const typed = value as { value?: string | number | boolean | null } | null;
  const content = typed !== null && typeof typed === 'object' ? typed.value : typed;
  return String(content ?? 'NULL');
}

/** Return a command's name, else the first line of its text, else its type. */
export function commandTitle(trans: TranslationBundle, command: ICommand): string {
  const line = firstLine(commandText(command));
  return command.name ?? (line === '' ? typeWord(trans, command.command_type) : line);
}

/** The emphasis of each status. */
const TONES: Readonly<Record<CommandStatus, Tone>> = {
  waiting: 'busy',
  running: 'busy',
  done: 'good',
  error: 'bad',
  cancelled: 'calm'
};

/** Return the emphasis of a status. */
export function toneOf(status: CommandStatus): Tone {
  return (TONES as Record<string, Tone | undefined>)[status] ?? 'calm';
}

/** Return a time of a record, Unix seconds, as a date. */
export function momentOf(seconds: number): Date {
  return new Date(seconds * 1000);
}

/** Return the time at which a command ended or, before, was submitted. */
export function lastMoment(command: ICommand): Date {
  return momentOf(command.end_time ?? command.submit_time);
}

/** Return how long a command took, or takes so far; empty for one that was never started. */
export function timeTaken(trans: TranslationBundle, command: ICommand, now: Date): string {
  if (!hasEnded(command)) {
    return span(trans, now.getTime() / 1000 - (command.start_time ?? command.submit_time));
  }
  const seconds = secondsTaken(command);
  return seconds === null ? '' : elapsed(trans, seconds);
}

/** Return how long a command waited; empty for one that was never started. */
export function timeWaited(trans: TranslationBundle, command: ICommand): string {
  const { submit_time: submitted, start_time: start } = command;
  if (start === null) {
    return '';
  }
  const exact = secondsBetween(command.submitted_at, command.started_at);
  return elapsed(trans, exact ?? start - submitted);
}

/** Return the facts below a command's title: type, cluster, id, and what it does or why it failed. */
export function commandFacts(command: ICommand, trans: TranslationBundle): string {
  const { id, status, label, progress, command_source: source } = command;
  const message = firstLine(command.message);
  const facts = [typeWord(trans, command.command_type), label ?? '', String(id)];
  if (status === 'waiting') {
    facts.push(command.throttled === true ? trans.__('waiting for a free slot') : message);
  } else if (status === 'running') {
    facts.push(message, progress > 0 ? `${progress} %` : '');
  } else if (status === 'error') {
    return [String(id), message || trans.__('failed'), ...facts.slice(0, 2)]
      .filter(fact => fact !== '')
      .join(' · ');
  } else if (status === 'cancelled') {
    facts.push(trans.__('cancelled'));
  } else if (command.result_rows !== null && command.result_rows !== undefined) {
    const rows = command.result_rows;
    facts.push(trans._n('%2 row', '%2 rows', rows, count(rows)));
  }
  if (source === 'SCHEDULED') {
    facts.push(trans.__('by a schedule'));
  }
  return facts.filter(fact => fact !== '').join(' · ');
}
