import { todaysName } from '../zones';

const MINUTE = 60_000;
const WALL_CLOCK: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric'
};
/**
 * Creating a format takes a hundred times as long as using it, and a list of schedules shows many times in few zones.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Return a zone's format. Throws `RangeError` for a zone unknown to this browser. */
function formatOf(
  language: string | undefined,
  zone: string,
  options: Intl.DateTimeFormatOptions
): Intl.DateTimeFormat {
  const key = JSON.stringify([language, zone, options]);
  const known = formats.get(key);
  if (known) {
    return known;
  }
  const made = new Intl.DateTimeFormat(language, { ...options, timeZone: zone });
  formats.set(key, made);
  return made;
}

/** Return the offset of a zone from UTC at a time, in milliseconds. */
function offsetOf(zone: string, moment: number): number {
  const parts = formatOf('en-US', zone, WALL_CLOCK).formatToParts(moment);
  const part = (type: string): number => Number(parts.find(one => one.type === type)?.value ?? 0);
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second')
  );
  return wall - Math.floor(moment / 1000) * 1000;
}

/** Return whether this browser knows a zone. */
export function isZone(name: string): boolean {
  try {
    formatOf('en-US', name, WALL_CLOCK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Return the time of a record's text: an instant if it has an offset, else local time of `zone`. Null for a missing or
 * invalid time, and for a zone unknown to this browser.
 */
export function momentOf(text: string | null | undefined, zone: string): Date | null {
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:?\d\d)?/.exec(text ?? '');
  if (!match) {
    return null;
  }
  const [, day, clock, offset] = match;
  const asUtc = Date.parse(`${day}T${clock}Z`);
  if (Number.isNaN(asUtc)) {
    return null;
  }
  if (offset) {
    return new Date(Date.parse(`${day}T${clock}${offset}`));
  }
  if (!isZone(zone)) {
    return null;
  }
  const first = asUtc - offsetOf(zone, asUtc);
  return new Date(asUtc - offsetOf(zone, first));
}

/** Return a time as the text of a field, in a zone: `2026-11-22 09:00`. */
export function fieldText(moment: Date, zone: string): string {
  return wallText(moment.getTime() + offsetOf(zone, moment.getTime()));
}

/** Return the time of day of the next full hour in a zone: `09:00`. */
export function nextHour(now: Date, zone: string): string {
  const hour = 60 * MINUTE;
  const wall = now.getTime() + offsetOf(zone, now.getTime());
  return wallText(Math.floor(wall / hour) * hour + hour).slice(11);
}

/**
 * Return when an interval that is counted from a time of day, `09:00`, is next due in a zone, as the text of a field.
 *
 * @param step - The interval in minutes, a day at most.
 */
export function nextAt(now: Date, zone: string, time: string, step: number): string {
  const wall = now.getTime() + offsetOf(zone, now.getTime());
  const today = Date.parse(`${wallText(wall).slice(0, 10)}T${time}Z`);
  const passed = today > wall ? 0 : Math.floor((wall - today) / (step * MINUTE)) + 1;
  return wallText(today + passed * step * MINUTE);
}

function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
}

/** Return whether the text of a field is an existing date and a time of 24 hours, such as `2026-11-22 09:00`. */
export function isFieldText(text: string): boolean {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)$/.exec(text.trim()) ?? [];
  const wall = Date.parse(`${day ?? ''}T${clock ?? ''}Z`);
  return Number.isFinite(wall) && wallText(wall) === `${day ?? ''} ${clock ?? ''}`;
}

/** Return the hour and the minute of a time of 24 hours, such as `9:30`; null for any other text. */
export function clockOf(text: string): [hour: number, minute: number] | null {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim()) ?? [];
  return hour === undefined ? null : [Number(hour), Number(minute)];
}

/** Return a time of 24 hours with two digits each: `09:00`. */
export function clockText(hour: number, minute: number): string {
  return [hour, minute].map(number => String(number).padStart(2, '0')).join(':');
}

/** Return today's names of all zones that this browser knows, in their order, `UTC` first. */
export function allZones(): string[] {
  const names = new Set(Intl.supportedValuesOf('timeZone').map(todaysName));
  names.delete('UTC');
  return ['UTC', ...[...names].sort()];
}
