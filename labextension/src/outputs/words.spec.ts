import { nullTranslator } from '@jupyterlab/translation';
import { type ICommandView, NOTHING_YET } from '../commands/detailModel';
import type { ICommand } from '../service/records/commands';
import { factsOf, savedFacts } from './words';

const trans = nullTranslator.load('');
const NOW = new Date(2026, 10, 22, 14, 1, 30);
const SECONDS = NOW.getTime() / 1000;
const COMMAND = {
  id: 12,
  status: 'running',
  command_type: 'ShellCommand',
  label: null,
  message: null,
  submit_time: SECONDS - 10,
  start_time: SECONDS - 4,
  end_time: null,
  progress: 0
} as unknown as ICommand;
const ENDED = { end_time: SECONDS } as const;

function facts(command: Partial<ICommand>, view: Partial<ICommandView> = {}): string {
  return factsOf(trans, { ...NOTHING_YET, command: { ...COMMAND, ...command }, ...view }, NOW);
}

function rows(of: number, ...names: string[]): Partial<ICommandView> {
  const state = { of, columns: names.map(name => ({ name, type: 'text' })) };
  return { result: { kind: 'rows', rows: { state } } } as unknown as Partial<ICommandView>;
}

describe('the line of a command', () => {
  it('is the saved one without its kernel, which nobody can interrupt', () => {
    const log = '\n│ part 1 of 2 · interrupt to cancel';
    expect(savedFacts(`◐ command 12 · shell · running · 4 s · interrupt to cancel${log}`)).toBe(
      '◐ command 12 · shell · running · 4 s'
    );
    expect(savedFacts('◐ command 12 · shell · waiting · 4 s · interrupt to stop waiting')).toBe(
      '◐ command 12 · shell · waiting · 4 s'
    );
    expect(savedFacts('✓ command 12 · 4.2 s · 3 lines')).toBe('✓ command 12 · 4.2 s · 3 lines');
  });

  it('tells what it does and how far it is', () => {
    expect(facts({})).toBe('command 12 · shell · running · 4 s');
    expect(facts({ label: 'etl', progress: 40 })).toBe(
      'command 12 · shell · running on etl · 4 s · 40 %'
    );
    expect(facts({ message: 'copying\nfiles' }, { rowsSoFar: 45_100 })).toBe(
      'command 12 · shell · running (copying files) · 4 s · 45,100 rows'
    );
  });

  it('tells what it waits for', () => {
    const waiting = { status: 'waiting', start_time: null } as const;
    expect(facts(waiting)).toBe('command 12 · shell · waiting · 10 s');
    expect(facts({ ...waiting, throttled: true })).toBe(
      'command 12 · shell · waiting for a free slot · 10 s'
    );
    expect(facts({ ...waiting, message: 'starting cluster etl' })).toBe(
      'command 12 · shell · starting cluster etl · 10 s'
    );
  });

  it('tells how it ended', () => {
    const done = { status: 'done', ...ENDED } as const;
    expect(facts(done, rows(1, 'a'))).toBe('command 12 · 4 s · 1 row × 1 column');
    expect(facts(done, rows(1_000, 'a', 'b'))).toBe('command 12 · 4 s · 1,000 rows × 2 columns');
    expect(facts(done, rows(3, 'line'))).toBe('command 12 · 4 s · 3 lines');
    expect(facts(done)).toBe('command 12 · 4 s');
    expect(facts({ ...done, message: '1 statement done, no table returned' })).toBe(
      'command 12 · 4 s · 1 statement done, no table returned'
    );
    expect(facts({ status: 'error', message: 'exit code 3\nmore', ...ENDED })).toBe(
      'command 12 · failed · 4 s · exit code 3'
    );
    expect(facts({ status: 'cancelled', message: 'by ann', ...ENDED })).toBe(
      'command 12 · cancelled · 4 s'
    );
  });
});
