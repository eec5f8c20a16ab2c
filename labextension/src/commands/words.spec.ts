import { nullTranslator } from '@jupyterlab/translation';
import type { ICommand } from '../service/records/commands';
import { memoryOf } from './model';
import { clockTime, commandFacts, commandTitle, statusWords } from './words';

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
  it('shows the date of a time that is not today', () => {
    expect(clockTime(SECONDS, NOW)).not.toContain('22');
    expect(clockTime(SECONDS - 86_400, NOW)).toContain('21');
  });

  it('takes the name, else the first line of what it runs, else its type', () => {
    expect(commandTitle(trans, { ...COMMAND, name: 'delays' })).toBe('delays');
    expect(commandTitle(trans, COMMAND)).toBe('SELECT 1');
    expect(commandTitle(trans, { ...COMMAND, command: {} })).toBe('database query');
  });

  it('tells where, how long and how far of one that runs', () => {
    expect(commandFacts(COMMAND, NOW, trans)).toBe('default · 4 s · 40 %');
  });

  it('tells why one waits', () => {
    const waiting: ICommand = { ...COMMAND, status: 'waiting', throttled: true };
    expect(commandFacts(waiting, NOW, trans)).toBe('default · waiting for a free slot');
    expect(
      commandFacts(
        { ...waiting, throttled: false, message: 'starting cluster default' },
        NOW,
        trans
      )
    ).toBe('default · starting cluster default');
  });

  it('tells how long one took and when it ended', () => {
    const done: ICommand = { ...COMMAND, status: 'done', label: null, end_time: SECONDS };
    expect(commandFacts(done, NOW, trans)).toBe(`4.0 s · ${clockTime(SECONDS, NOW)}`);
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
    const kept = { filter: { allUsers: true, status: 'error', name: 'x' }, selected: '7' };
    expect(memoryOf(kept)).toEqual(kept);
  });

  it.each([
    undefined,
    null,
    7,
    { filter: 'x', selected: 7 },
    { filter: { status: 'gone', name: 7 } }
  ])('takes %j for no filter', kept => {
    expect(memoryOf(kept)).toEqual({
      filter: { allUsers: false, status: '', name: '' },
      selected: null
    });
  });
});
