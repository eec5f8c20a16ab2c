import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandStatus, ICommand } from '../service/records/commands';
import { duration, iconOf, span, typeWord } from '../words';

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

/** Return a command's name, else the first line of its text, else its type. */
export function commandTitle(trans: TranslationBundle, command: ICommand): string {
  const firstLine = commandText(command).trim().split('\n', 1)[0] ?? '';
  return command.name ?? (firstLine === '' ? typeWord(trans, command.command_type) : firstLine);
}

/** Return a time in the local zone, with its date unless it is today; the argument is Unix seconds. */
export function clockTime(seconds: number, now: Date): string {
  const time = new Date(seconds * 1000);
  const clock = time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  const isToday = time.toDateString() === now.toDateString();
  return isToday
    ? clock
    : `${time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })} ${clock}`;
}

/** Return the facts after a command's title: cluster, duration, progress, time. */
export function commandFacts(command: ICommand, now: Date, trans: TranslationBundle): string {
  const { status, label, start_time: start, end_time: end, progress } = command;
  const facts = [label ?? ''];
  if (status === 'waiting') {
    facts.push(
      command.throttled === true
        ? trans.__('waiting for a free slot')
        : (command.message ?? trans.__('waiting'))
    );
  } else if (status === 'running') {
    facts.push(
      span(trans, now.getTime() / 1000 - (start ?? command.submit_time)),
      progress > 0 ? `${progress} %` : ''
    );
  } else {
    facts.push(start !== null && end !== null ? duration(trans, end - start) : '');
    facts.push(clockTime(end ?? command.submit_time, now));
  }
  return facts.filter(fact => fact !== '').join(' · ');
}
