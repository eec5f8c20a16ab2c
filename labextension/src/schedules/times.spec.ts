import { clock, fieldText, momentOf, nextHour, shortTime } from './times';

const PARIS = 'Europe/Paris';

describe('momentOf', () => {
  it('reads a wall clock in its zone, in summer and in winter', () => {
    expect(momentOf('2026-11-22 09:00', PARIS)?.toISOString()).toBe('2026-11-22T08:00:00.000Z');
    expect(momentOf('2026-07-22 09:00', PARIS)?.toISOString()).toBe('2026-07-22T07:00:00.000Z');
    expect(momentOf('2026-03-29 03:30', PARIS)?.toISOString()).toBe('2026-03-29T01:30:00.000Z');
  });

  it('takes an offset for what it says', () => {
    expect(momentOf('2026-11-22T09:00:00Z', PARIS)?.toISOString()).toBe('2026-11-22T09:00:00.000Z');
    expect(momentOf('2026-11-22T09:00+02:00', 'UTC')?.toISOString()).toBe(
      '2026-11-22T07:00:00.000Z'
    );
  });

  it.each([[null], [''], ['tomorrow'], ['2026-13-40 99:99']])(
    'knows that %p is not a time',
    text => {
      expect(momentOf(text, PARIS)).toBeNull();
    }
  );

  it('makes no time up for a zone that it does not know', () => {
    expect(momentOf('2026-11-22 09:00', 'Mars/Olympus')).toBeNull();
  });
});

describe('shortTime', () => {
  const now = new Date('2026-11-21T12:00Z');

  it('leaves out the date of today and the year of this year', () => {
    document.documentElement.lang = 'en';
    expect(shortTime(new Date('2026-11-21T20:15Z'), now, PARIS)).toBe('21:15');
    expect(shortTime(new Date('2026-11-21T23:30Z'), now, PARIS)).toBe('Sun 22 Nov 00:30');
    expect(shortTime(new Date('2027-01-02T08:00Z'), now, PARIS)).toBe('Sat 2 Jan 2027 09:00');
  });
});

it('fills a field with the wall clock of a zone', () => {
  expect(fieldText(new Date('2026-11-22T08:00Z'), PARIS)).toBe('2026-11-22T09:00');
  expect(clock(new Date('2026-11-22T08:00Z'), PARIS)).toBe('09:00');
});

it('starts at the next full hour, also where zones are half an hour off', () => {
  expect(nextHour(new Date('2026-11-22T08:10Z'), PARIS)).toBe('2026-11-22T10:00');
  expect(nextHour(new Date('2026-11-22T08:10Z'), 'Asia/Kolkata')).toBe('2026-11-22T14:00');
});
