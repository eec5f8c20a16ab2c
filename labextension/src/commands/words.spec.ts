import { nullTranslator } from '@jupyterlab/translation';
import type { ICommand } from '../service/records/commands';
import { memoryOf } from './model';
import {
  bindingsText,
  commandFacts,
  commandTitle,
  statusWords,
  timeTaken,
  timeWaited
} from './words';

const trans = nullTranslator.load('');
const NOW = new Date(2026, 10, 22, 14, 1, 30);
const SECONDS = NOW.getTime() / 1000;
const COMMAND = {
  id: 131,
  status: 'running',
  command_type: 'DbTapQueryCommand',
  command: { query: '\nSELECT 1\nFROM t' },
  name: null,
  label: 'default',
  submit_time: SECONDS - 10,
  start_time: SECONDS - 4,
  end_time: null,
  progress: 40
} as unknown as ICommand;

describe('commands in words', () => {
  it('takes the name, else the first line of what it runs, else its type', () => {
    expect(commandTitle(trans, { ...COMMAND, name: 'delays' })).toBe('delays');
    expect(commandTitle(trans, COMMAND)).toBe('SELECT 1');
    expect(commandTitle(trans, { ...COMMAND, command: {} })).toBe('database query');
  });

  it('tells the values of names', () => {
    const many = {
      origin: 'JFK',
      days: [1, { type: 'date', value: '2026-01-31' }, null],
      long: 'x'.repeat(99)
    };
    expect(bindingsText({ ...COMMAND, command: { bindings: many } })).toBe(
      `origin = JFK · days = 1, 2026-01-31, NULL · long = ${'x'.repeat(80)}…`
    );
    expect(bindingsText(COMMAND)).toBe('');
  });

  it('tells what one does or waits for', () => {
    expect(commandFacts(COMMAND, trans)).toBe('database query · default · 131 · 40 %');
    expect(timeTaken(trans, COMMAND, NOW)).toBe('4 s');
    const waiting: ICommand = { ...COMMAND, status: 'waiting', throttled: true };
    expect(commandFacts(waiting, trans)).toMatch(/ · 131 · waiting for a free slot$/);
    const starting = { ...waiting, throttled: false, message: 'starting cluster default' };
    expect(commandFacts(starting, trans)).toMatch(/ · 131 · starting cluster default$/);
  });

  it('tells of one that ended how long it took, its rows, its schedule, or its failure', () => {
    const ended: ICommand = { ...COMMAND, label: null, end_time: SECONDS, result_rows: 16 };
    const done: ICommand = { ...ended, status: 'done', command_source: 'SCHEDULED' };
    expect(commandFacts(done, trans)).toBe('database query · 131 · 16 rows · by a schedule');
    expect(timeTaken(trans, done, NOW)).toBe('4 s');
    expect(timeTaken(trans, { ...done, start_time: null }, NOW)).toBe('');
    const failed: ICommand = { ...ended, status: 'error', message: 'no such column: x\n at 1' };
    expect(commandFacts(failed, trans)).toBe('131 · no such column: x · database query');
  });

  it('tells exactly how long one waited and took where the service does', () => {
    const times = {
      submitted_at: '2026-11-22T13:01:25.990Z',
      started_at: '2026-11-22T13:01:26.020Z',
      ended_at: '2026-11-22T13:01:30.260Z'
    };
    const done: ICommand = {
      ...COMMAND,
      status: 'done',
      submit_time: SECONDS - 5,
      end_time: SECONDS
    };
    expect(timeWaited(trans, done)).toBe('1 s');
    expect(timeWaited(trans, { ...done, ...times })).toBe('30 ms');
    expect(timeWaited(trans, { ...done, ...times, start_time: null })).toBe('');
    expect(timeTaken(trans, { ...done, ...times }, NOW)).toBe('4.2 s');
    expect(timeTaken(trans, { ...done, ...times, ended_at: null }, NOW)).toBe('4 s');
    expect(timeTaken(trans, { ...done, ...times, started_at: 'soon' }, NOW)).toBe('4 s');
  });

  it('shows a status that it does not know as it is', () => {
    expect(statusWords('paused' as ICommand['status'], trans)).toEqual({
      icon: '·',
      word: 'paused'
    });
  });
});

describe('memoryOf', () => {
  it('returns what was kept', () => {
    const kept = { filter: { allUsers: true, status: 'error', search: '' }, selected: '7' };
    expect(memoryOf(kept)).toEqual(kept);
  });

  it.each([undefined, null, 7, { filter: 'x', selected: 7 }, { filter: { status: 'gone' } }])(
    'takes %j for no filter',
    kept => {
      expect(memoryOf(kept)).toEqual({
        filter: { allUsers: false, status: '', search: '' },
        selected: null
      });
    }
  );
});
