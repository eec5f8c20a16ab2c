import type { TranslationBundle } from '@jupyterlab/translation';
import { ICONS, wordsOfSources, wordsOfTypes } from './statuses';

/**
 * Return the icon of a status, the same as in the kernel's panels; a dot for an unknown one. Always shown with a word.
 */
export function iconOf(status: string): string {
  return ICONS.get(status.toLowerCase()) ?? '·';
}

/** Return the word for a type of command; a type unknown here is shown as it is. */
export function typeWord(trans: TranslationBundle, commandType: string): string {
  return wordsOfTypes(trans).get(commandType) ?? commandType;
}

/** Return the word for the source of a command; empty for none. */
export function sourceWord(trans: TranslationBundle, source: string | null | undefined): string {
  return source ? (wordsOfSources(trans).get(source) ?? source) : '';
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
