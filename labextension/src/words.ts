import type { TranslationBundle } from '@jupyterlab/translation';
import { ICONS, wordsOfSources, wordsOfTypes } from './statuses';
import { ownZone } from './zones';

/**
 * Return the icon of a status, the same as in the kernel's panels; a dot for an unknown one. Always shown with a word.
 */
export function iconOf(status: string): string {
  return ICONS.get(status.toLowerCase()) ?? '·';
}

/** Return the name under which the launcher and the command palette list what this extension offers. */
export function categoryOf(trans: TranslationBundle): string {
  return trans.__('Data service');
}

/** Return the word for a type of command; a type unknown here is shown as it is. */
export function typeWord(trans: TranslationBundle, commandType: string): string {
  return wordsOfTypes(trans).get(commandType) ?? commandType;
}

/** Return where a command came from: `notebook report.ipynb`, `API`, `schedule`; empty where that is not known. */
export function sourceWords(
  trans: TranslationBundle,
  source: string | null | undefined,
  notebook: string | null | undefined
): string {
  const word = source ? (wordsOfSources(trans).get(source) ?? source) : '';
  return notebook ? `${word} ${notebook}` : word;
}

/** Return the name of a type of tap. */
export function tapTypeWord(trans: TranslationBundle, type: string): string {
  const names: Readonly<Record<string, string>> = {
    postgresql: 'PostgreSQL',
    mysql: 'MySQL',
    sqlserver: 'SQL Server',
    redshift: 'Redshift',
    sqlite: 'SQLite',
    url: trans.__('database by URL')
  };
  return names[type] ?? type;
}

/** Return a text of at most so many characters, with an ellipsis where it was longer. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** Return a count with its thousands set apart, in one form for all views. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** Return the time that something has taken so far: `4 s`, `2 min 5 s`, `2 h 14 min`, `3 d 4 h`. */
export function span(trans: TranslationBundle, seconds: number): string {
  const whole = Math.max(0, Math.trunc(seconds));
  const [minutes, hours, days] = [60, 3600, 86_400].map(unit => Math.trunc(whole / unit)) as [
    number,
    number,
    number
  ];
  const parts =
    days > 0
      ? [trans.__('%1 d', days), hours % 24 > 0 && trans.__('%1 h', hours % 24)]
      : hours > 0
        ? [trans.__('%1 h', hours), minutes % 60 > 0 && trans.__('%1 min', minutes % 60)]
        : minutes > 0
          ? [trans.__('%1 min', minutes), whole % 60 > 0 && trans.__('%1 s', whole % 60)]
          : [trans.__('%1 s', whole)];
  return parts.filter(Boolean).join(' ');
}

/** Return the time that something took, exact where it was short: `47 ms`, `4.2 s`, `2 min 5 s`. */
export function duration(trans: TranslationBundle, seconds: number): string {
  if (seconds < 0.1) {
    return trans.__('%1 ms', Math.max(Math.round(seconds * 1000), 1));
  }
  return seconds < 9.95 ? trans.__('%1 s', seconds.toFixed(1)) : span(trans, Math.round(seconds));
}

/**
 * Return the time between two moments; a whole number of seconds is taken as known to the second alone: `< 1 s`, `4 s`,
 * `2 min 5 s`; exact ones as in `duration`: `47 ms`, `4.2 s`.
 */
export function elapsed(trans: TranslationBundle, seconds: number): string {
  if (seconds <= 0) {
    return trans.__('< 1 s');
  }
  return Number.isInteger(seconds) ? span(trans, seconds) : duration(trans, seconds);
}

/** The form of a time: its zone (the reader's unless given), and whether its seconds matter. */
export interface ITimeForm {
  zone?: string;
  seconds?: boolean;
}

/** Making a format takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(
  language: string | undefined,
  options: Intl.DateTimeFormatOptions
): Intl.DateTimeFormat {
  const key = JSON.stringify([language, options]);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(language, options);
  formats.set(key, format);
  return format;
}

/** Return a time of day, in 24 hours in every language: `09:00`, with seconds `09:00:01`. */
export function clock(moment: Date, form: ITimeForm = {}): string {
  return formatOf('en-GB', {
    hourCycle: 'h23',
    hour: '2-digit',
    minute: '2-digit',
    ...(form.seconds && { second: '2-digit' }),
    ...(form.zone !== undefined && { timeZone: form.zone })
  }).format(moment);
}

/** Return a day in the reader's language, with the year if it differs from the current one: `Sat 22 Nov`. */
export function day(moment: Date, now: Date, form: ITimeForm = {}): string {
  const zone = form.zone === undefined ? {} : { timeZone: form.zone };
  const language = document.documentElement.lang || undefined;
  const part = (options: Intl.DateTimeFormatOptions): string =>
    formatOf(language, { ...options, ...zone }).format(moment);
  const date = `${part({ weekday: 'short' })} ${part({ day: 'numeric' })} ${part({ month: 'short' })}`;
  const [year, present] = [moment, now].map(one => isoDay(one, form).slice(0, 4));
  return year === present ? date : `${date} ${year}`;
}

/** Return the name of a weekday, 0 for Sunday, in the reader's language: `Mon`, or long `Monday`. */
export function weekdayName(number: number, form: 'short' | 'long'): string {
  const firstSunday = Date.UTC(2023, 0, 1);
  const language = document.documentElement.lang || undefined;
  return formatOf(language, { weekday: form, timeZone: 'UTC' }).format(
    new Date(firstSunday + number * 86_400_000)
  );
}

/** Return `09:00` for a time of today, else `Sat 22 Nov 09:00`. */
export function timeText(moment: Date, now: Date, form: ITimeForm = {}): string {
  const isToday = isoDay(moment, form) === isoDay(now, form);
  return isToday ? clock(moment, form) : `${day(moment, now, form)} ${clock(moment, form)}`;
}

/** Return when a view was read, to the second, with the zone of all its times: `as of 14:02:11 (Europe/Paris)`. */
export function asOfText(trans: TranslationBundle, moment: Date): string {
  return trans.__('as of %1 (%2)', clock(moment, { seconds: true }), ownZone());
}

/** Return on which clock the times of a view are: `times in Europe/Paris`. */
export function timesIn(trans: TranslationBundle): string {
  return trans.__('times in %1', ownZone());
}

/** Return the first line of a text, such as a message of a command; empty without one. */
export function firstLine(text: string | null | undefined): string {
  return (text ?? '').trim().split('\n', 1)[0] ?? '';
}

/** Return the heading of a day in a list: `Today`, `Yesterday`, `Sat 22 Nov`. */
export function dayHeading(trans: TranslationBundle, moment: Date, now: Date): string {
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  switch (isoDay(moment)) {
    case isoDay(now):
      return trans.__('Today');
    case isoDay(yesterday):
      return trans.__('Yesterday');
    default:
      return day(moment, now);
  }
}

/** Return the day as `2026-11-22`, for comparisons. */
function isoDay(moment: Date, form: ITimeForm = {}): string {
  const zone = form.zone === undefined ? {} : { timeZone: form.zone };
  return formatOf('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit', ...zone }).format(
    moment
  );
}
