import { nullTranslator } from '@jupyterlab/translation';
import EXAMPLES from './durations.json';
import {
  asOfText,
  clock,
  dayHeading,
  duration,
  elapsed,
  iconOf,
  sourceWords,
  span,
  timesIn,
  timeText
} from './words';

const trans = nullTranslator.load('svc_jupyter');

it.each(Object.entries(EXAMPLES.span))('%s seconds so far are %s', (seconds, words) => {
  expect(span(trans, Number(seconds))).toBe(words);
});

it.each(Object.entries(EXAMPLES.elapsed))(
  '%s seconds between two moments are %s',
  (seconds, words) => {
    expect(elapsed(trans, Number(seconds))).toBe(words);
  }
);

it.each(Object.entries(EXAMPLES.duration))('%s seconds were %s', (seconds, words) => {
  expect(duration(trans, Number(seconds))).toBe(words);
});

it('has an icon for every status, however it is written', () => {
  expect([iconOf('running'), iconOf('RUNNING'), iconOf('UP'), iconOf('constructor')]).toEqual([
    '◐',
    '◐',
    '●',
    '·'
  ]);
});

it.each([
  ['UI', 'report.ipynb', 'notebook report.ipynb'],
  ['UI', '', 'notebook'],
  ['UI', undefined, 'notebook'],
  ['API', null, 'API'],
  ['SCHEDULED', null, 'schedule'],
  ['QUEST', null, 'QUEST'],
  [undefined, undefined, '']
])('a command of %s and notebook %s came from: %s', (source, notebook, words) => {
  expect(sourceWords(trans, source, notebook)).toBe(words);
});

describe('times', () => {
  const now = new Date(2026, 10, 22, 14, 1, 58);

  it.each([
    [new Date(2026, 10, 22, 0, 5, 9), '00:05', '00:05:09', 'Today'],
    [new Date(2026, 10, 21, 23, 59, 0), 'Sat 21 Nov 23:59', 'Sat 21 Nov 23:59:00', 'Yesterday'],
    [
      new Date(2025, 0, 2, 12, 0, 0),
      'Thu 2 Jan 2025 12:00',
      'Thu 2 Jan 2025 12:00:00',
      'Thu 2 Jan 2025'
    ]
  ])('of %s have 24 hours, and a date unless it is today', (moment, short, exact, heading) => {
    expect(timeText(moment, now)).toBe(short);
    expect(timeText(moment, now, { seconds: true })).toBe(exact);
    expect(dayHeading(trans, moment, now)).toBe(heading);
  });

  it('are those of a zone where one is given', () => {
    const moment = new Date('2026-11-21T23:30:00Z');
    expect(clock(moment, { zone: 'Europe/Paris' })).toBe('00:30');
    expect(timeText(moment, moment, { zone: 'Asia/Tokyo' })).toBe('08:30');
  });

  it('of a view are on the clock of the reader, which it names', () => {
    const moment = new Date('2026-11-21T23:30:05Z');
    expect(asOfText(trans, moment)).toBe('as of 18:30:05 (America/New_York)');
    expect(timesIn(trans)).toBe('times in America/New_York');
  });
});
