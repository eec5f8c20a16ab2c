import type { ScheduleCalls } from './calls';
import { NotebookSchedules, pauseUntilNews } from './notebookSchedules';
import { aSchedule, anAction } from './testing';

const MINUTE = 60_000;
const NOW = Date.parse('2026-11-22T07:00Z');

describe('pauseUntilNews', () => {
  it('looks soon while an action is under way, else shortly after the next run', () => {
    const running = anAction({ done: false, status: 'running' });
    expect(pauseUntilNews([aSchedule({ last_action: running })], NOW)).toBeLessThan(5_000);
    const pause = pauseUntilNews([aSchedule()], NOW) ?? 0;
    expect(pause).toBeGreaterThan(60 * MINUTE - 1);
    expect(pause).toBeLessThan(61 * MINUTE);
  });

  it('waits for the regular look where nothing comes', () => {
    expect(pauseUntilNews([aSchedule({ status: 'SUSPENDED' })], NOW)).toBeNull();
  });

  it('never asks a timer for more than it can', () => {
    const far = aSchedule({ next_materialized_time: '2099-01-01 00:00' });
    expect(pauseUntilNews([far], NOW)).toBeLessThan(2 ** 31);
  });
});

describe('watching a notebook', () => {
  const calls = { ofNotebook: jest.fn(), copyState: jest.fn() };
  const schedules = (): NotebookSchedules =>
    new NotebookSchedules(calls as unknown as ScheduleCalls);

  beforeEach(() => {
    jest.useFakeTimers({ now: NOW });
    calls.ofNotebook.mockReset();
    calls.copyState.mockReset().mockResolvedValue({ path: '', is_current: true });
  });
  afterEach(() => jest.useRealTimers());

  it('asks once about a notebook without schedules, and not for its copy', async () => {
    calls.ofNotebook.mockResolvedValue({ schedules: [], note: null });
    const known = schedules();
    const watch = known.watch('a.ipynb');
    await jest.advanceTimersByTimeAsync(60 * MINUTE);
    expect(calls.ofNotebook).toHaveBeenCalledTimes(1);
    expect(calls.copyState).not.toHaveBeenCalled();
    expect(known.of('a.ipynb')?.schedules).toEqual([]);
    watch.dispose();
    known.dispose();
  });

  it('does not ask for the copy of a note, which has none', async () => {
    const command = { note_id: 9, arguments: '{}' };
    calls.ofNotebook.mockResolvedValue({ schedules: [aSchedule({ command })], note: null });
    const known = schedules();
    const watch = known.watch('a.ipynb');
    await jest.advanceTimersByTimeAsync(10);
    expect(known.of('a.ipynb')).toMatchObject({ isCopyCurrent: true });
    expect(calls.copyState).not.toHaveBeenCalled();
    watch.dispose();
    known.dispose();
  });

  it('looks again after a run that is under way, and never after the watch has ended', async () => {
    const running = aSchedule({ last_action: anAction({ done: false, status: 'running' }) });
    calls.ofNotebook.mockResolvedValue({ schedules: [running], note: null });
    const known = schedules();
    const watch = known.watch('a.ipynb');
    await jest.advanceTimersByTimeAsync(10_000);
    const asked = calls.ofNotebook.mock.calls.length;
    expect(asked).toBeGreaterThan(2);
    watch.dispose();
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(calls.ofNotebook).toHaveBeenCalledTimes(asked);
    known.dispose();
  });

  it('goes on as soon as a schedule was made', async () => {
    calls.ofNotebook
      .mockResolvedValueOnce({ schedules: [], note: null })
      .mockResolvedValue({ schedules: [aSchedule()], note: null });
    const known = schedules();
    const told: string[] = [];
    known.changed.connect((_, path) => told.push(path));
    const watch = known.watch('a.ipynb');
    await jest.advanceTimersByTimeAsync(1_000);
    await known.refresh('a.ipynb');
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(known.of('a.ipynb')?.schedules).toHaveLength(1);
    expect(calls.ofNotebook.mock.calls.length).toBeGreaterThan(4);
    expect(new Set(told)).toEqual(new Set(['a.ipynb']));
    watch.dispose();
    known.dispose();
  });
});
