import { clockOf, clockText } from '../schedules/times';

/** Times of day on days of the week or of the month, as typed: what the form writes as a cron expression. */
export interface ICronTimes {
  /** Times of 24 hours, `09:00, 17:00`. */
  times: string;
  /** Days of the week, 0 for Sunday; with the days of the month empty for every day. */
  weekdays: readonly number[];
  /** `1, 15, last`. */
  monthDays: string;
}

const WEEK = 7;
const LAST = 'L';
const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** More times a day than this are easier read as a cron expression. */
const MOST_TIMES = 24;

/** Return the times of day in order, as hours and minutes; null for a text with anything else, or without a time. */
export function clocksIn(text: string): (readonly [hour: number, minute: number])[] | null {
  const clocks = wordsIn(text).map(clockOf);
  const known = clocks.filter(clock => clock !== null);
  return known.length > 0 && known.length === clocks.length ? known : null;
}

/**
 * Return times as the minutes and hours of one cron expression, which has each of its minutes in each of its hours;
 * null for 09:00 with 17:30, which needs two.
 */
export function crossed(
  clocks: readonly (readonly [hour: number, minute: number])[]
): { minutes: number[]; hours: number[] } | null {
  const different = new Set(clocks.map(([hour, minute]) => 60 * hour + minute));
  const hours = sorted(clocks.map(([hour]) => hour));
  const minutes = sorted(clocks.map(([, minute]) => minute));
  return hours.length * minutes.length === different.size ? { minutes, hours } : null;
}

/** Return days of the month as cron has them, `1,15,L`; empty for every day, null for a text that has something else. */
export function monthDaysIn(text: string): string | null {
  const words = wordsIn(text).map(word => word.toUpperCase());
  const isLast = words.some(word => word === 'LAST' || word === LAST);
  const days = words
    .filter(word => word !== 'LAST' && word !== LAST)
    .map(word => numbersIn(word, 1, 31));
  if (days.includes(null)) {
    return null;
  }
  const numbers = sorted(days.flatMap(day => day ?? []));
  return [...runsOf(numbers), ...(isLast ? [LAST] : [])].join(',');
}

/** Return the cron expression of these times; null if they are none, or if it takes more than one. */
export function cronOf({ times, weekdays, monthDays }: ICronTimes): string | null {
  const clocks = clocksIn(times);
  const parts = clocks && crossed(clocks);
  const days = monthDaysIn(monthDays);
  if (!parts || days === null) {
    return null;
  }
  const ofWeek = weekdays.length === WEEK ? [] : runsOf(sorted(weekdays));
  return [
    parts.minutes.join(','),
    parts.hours.join(','),
    days || '*',
    '*',
    ofWeek.join(',') || '*'
  ].join(' ');
}

/** Return the times of a cron expression; null for one that says more than times on days. */
export function timesOf(expression: string): ICronTimes | null {
  const fields = expression.trim().toUpperCase().split(/\s+/);
  const [minute = '', hour = '', day = '', month, weekday = ''] = fields;
  const minutes = numbersIn(minute, 0, 59);
  const hours = numbersIn(hour, 0, 23);
  const monthDays = isAny(day) ? '' : monthDaysIn(day);
  const named = WEEKDAY_NAMES.reduce(
    (field, name, number) => field.replaceAll(name, String(number)),
    weekday
  );
  const weekdays = isAny(weekday) ? [] : numbersIn(named, 0, WEEK);
  if (fields.length !== 5 || month !== '*' || !minutes || !hours || !weekdays) {
    return null;
  }
  if (monthDays === null || minutes.length * hours.length > MOST_TIMES) {
    return null;
  }
  return {
    times: hours.flatMap(h => minutes.map(m => clockText(h, m))).join(', '),
    weekdays: sorted(weekdays.map(number => number % WEEK)),
    monthDays: monthDays.replaceAll(',', ', ').replace(LAST, 'last')
  };
}

function isAny(field: string): boolean {
  return field === '*' || field === '?';
}

function wordsIn(text: string): string[] {
  return text.split(/[,;\s]+/).filter(word => word !== '');
}

/** Return the numbers of a list such as `1,5-7`, in order; null if it has anything else. */
function numbersIn(list: string, lowest: number, highest: number): number[] | null {
  const numbers: number[] = [];
  for (const term of list.split(',')) {
    const [, first = '', last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(term) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === '' || from < lowest || to > highest || from > to) {
      return null;
    }
    for (let number = from; number <= to; number++) {
      numbers.push(number);
    }
  }
  return sorted(numbers);
}

/** Return `1-5` for three and more numbers that follow each other, and others alone. */
function runsOf(numbers: readonly number[]): string[] {
  const runs: number[][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && run.at(-1) === number - 1) {
      run.push(number);
    } else {
      runs.push([number]);
    }
  }
  return runs.flatMap(run =>
    run.length > 2 ? [`${run[0] ?? ''}-${run.at(-1) ?? ''}`] : run.map(String)
  );
}

function sorted(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((one, other) => one - other);
}
