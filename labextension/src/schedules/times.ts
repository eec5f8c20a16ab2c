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

/** Return a time as the value of a `datetime-local` field in a zone: `2026-11-22T09:00`. */
export function fieldText(moment: Date, zone: string): string {
  return new Date(moment.getTime() + offsetOf(zone, moment.getTime())).toISOString().slice(0, 16);
}

/** Return the next full hour in a zone, as the value of a `datetime-local` field. */
export function nextHour(now: Date, zone: string): string {
  const hour = 60 * MINUTE;
  const wall = now.getTime() + offsetOf(zone, now.getTime());
  return new Date(Math.floor(wall / hour) * hour + hour).toISOString().slice(0, 16);
}

let own: { zone: string; offset: number } | null = null;

/** Return the local zone; it is read again when the clock's offset has changed. */
export function ownZone(): string {
  const offset = new Date().getTimezoneOffset();
  if (own?.offset !== offset) {
    own = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC', offset };
  }
  return own.zone;
}

/** Return the names of all zones that this browser knows, `UTC` first. */
export function allZones(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter(name => name !== 'UTC')];
}

/** Return `09:00` for a time of today, else `Sat 22 Nov 09:00`, with the year if it differs. */
export function shortTime(moment: Date, now: Date, zone: string = ownZone()): string {
  const isToday = fieldText(moment, zone).slice(0, 10) === fieldText(now, zone).slice(0, 10);
  return isToday ? clock(moment, zone) : `${shortDay(moment, now, zone)} ${clock(moment, zone)}`;
}

/** Return `09:00`. */
export function clock(moment: Date, zone: string): string {
  return fieldText(moment, zone).slice(11);
}

/** Return `Sat 22 Nov`, in the user's language, with the year if it differs from the current one. */
export function shortDay(moment: Date, now: Date, zone: string): string {
  const part = (options: Intl.DateTimeFormatOptions): string =>
    formatOf(document.documentElement.lang || undefined, zone, options).format(moment);
  const day = `${part({ weekday: 'short' })} ${part({ day: 'numeric' })} ${part({ month: 'short' })}`;
  const [year, present] = [fieldText(moment, zone).slice(0, 4), fieldText(now, zone).slice(0, 4)];
  return year === present ? day : `${day} ${year}`;
}
