import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandStatus, ICommand } from '../service/records/commands';

/** A status as it is shown: never by its colour alone. */
export interface IStatusWords {
  icon: string;
  word: string;
}

const ICONS: Readonly<Record<CommandStatus, string>> = {
  waiting: '◌',
  running: '◐',
  done: '✓',
  error: '✗',
  cancelled: '■'
};

/** Return the icon and the word of a status. */
export function statusWords(status: CommandStatus, trans: TranslationBundle): IStatusWords {
  const words: Readonly<Record<CommandStatus, string>> = {
    waiting: trans.__('waiting'),
    running: trans.__('running'),
    done: trans.__('done'),
    error: trans.__('failed'),
    cancelled: trans.__('cancelled')
  };
  // A service may know a status that this page does not.
  return {
    icon: (ICONS as Record<string, string>)[status] ?? '·',
    word: (words as Record<string, string>)[status] ?? status
  };
}

/** The fields of a command that hold what it runs, the most telling first. */
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

/** Return what a command runs, as its user wrote it; empty where it holds no text. */
export function commandText(command: ICommand): string {
  const texts = TEXT_FIELDS.map(field => command.command[field]);
  return texts.find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? '';
}

/** Return a command's name, else the first line of what it runs, else its type. */
export function commandTitle(command: ICommand): string {
  const firstLine = commandText(command).trim().split('\n', 1)[0] ?? '';
  return command.name ?? (firstLine === '' ? command.command_type : firstLine);
}

/** Return a duration: `00:04`, `1:02:03`, of less than ten seconds that is over `4.2 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const pad = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0
    ? `${hours}:${pad(minutes)}:${pad(whole % 60)}`
    : `${pad(minutes)}:${pad(whole % 60)}`;
}

/** Return a time in the reader's zone, with its date when that is not today; the argument is Unix seconds. */
export function clockTime(seconds: number, now: Date): string {
  const time = new Date(seconds * 1000);
  const clock = time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  const isToday = time.toDateString() === now.toDateString();
  return isToday
    ? clock
    : `${time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })} ${clock}`;
}

/** Return what stands behind a command's title: where, how long, how far, when. */
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
      duration(now.getTime() / 1000 - (start ?? command.submit_time)),
      progress > 0 ? `${progress} %` : ''
    );
  } else {
    facts.push(start !== null && end !== null ? duration(end - start) : '');
    facts.push(clockTime(end ?? command.submit_time, now));
  }
  return facts.filter(fact => fact !== '').join(' · ');
}
