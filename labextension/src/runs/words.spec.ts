import { nullTranslator } from '@jupyterlab/translation';
import type { IRecentRun } from '../service/records/schedules';
import { tookText } from './words';

const trans = nullTranslator.load('svc_jupyter');
const NOW = new Date('2026-11-23T12:00:10.400Z');
const START = Date.parse('2026-11-23T12:00:01Z') / 1000;

describe('how long a run of the page Runs took', () => {
  const took = (times: Partial<IRecentRun>): string =>
    tookText(trans, { start_time: START, end_time: null, ...times } as IRecentRun, NOW);

  it('is exact where the service tells, else to the second', () => {
    const end_time = START + 4;
    expect(took({ end_time })).toBe('4 s');
    const exact = { started_at: '2026-11-23T12:00:01.500Z', ended_at: '2026-11-23T12:00:05.010Z' };
    expect(took({ end_time, ...exact })).toBe('3.5 s');
    expect(took({ end_time, ...exact, ended_at: null })).toBe('4 s');
  });

  it('is in whole seconds while it goes on, and nothing before it starts', () => {
    expect(took({})).toBe('9 s');
    expect(took({ start_time: null })).toBe('');
  });
});
