import { Failures, untilNextLook } from './failures';
import { aSchedule } from './testing';
import type { IListedSchedule } from './words';

const NOW = new Date('2026-11-22T08:00:00Z');

function listed(id: number, change: Partial<IListedSchedule> = {}): IListedSchedule {
  return { ...aSchedule({ id }), ...change };
}

function action(id: number, status: string): Pick<IListedSchedule, 'last_action'> {
  const nominal_time = '2026-11-22T07:00:00Z';
  const done = status !== 'running';
  const last = {
    id,
    sequence_id: id,
    nominal_time,
    status,
    done,
    query_hist_id: id,
    message: null
  };
  return { last_action: last };
}

describe('Failures', () => {
  it('tells of no run that had failed before the first look', () => {
    expect(new Failures().since([listed(1, action(1, 'error'))])).toEqual([]);
  });

  it('tells of each failed run once', () => {
    const failures = new Failures();
    failures.since([listed(1, action(1, 'error')), listed(2)]);
    const failed = listed(2, action(2, 'error'));
    expect(failures.since([listed(1, action(1, 'error')), failed])).toEqual([failed]);
    expect(failures.since([listed(1, action(1, 'error')), failed])).toEqual([]);
    const again = listed(1, action(3, 'not_found'));
    expect(failures.since([again, failed])).toEqual([again]);
  });
});

describe('untilNextLook', () => {
  it('is half a minute after the next run', () => {
    const next = listed(1, { next_materialized_time: '2026-11-22 09:00', time_zone: 'UTC' });
    expect(untilNextLook([next], NOW)).toBe(3_630_000);
  });

  it('is half a minute while a run is under way', () => {
    const next = { next_materialized_time: '2026-11-22 09:00', time_zone: 'UTC' };
    expect(untilNextLook([listed(1, { ...next, ...action(1, 'running') })], NOW)).toBe(30_000);
  });

  it('is never for schedules that do not run', () => {
    expect(untilNextLook([listed(1, { status: 'SUSPENDED' })], NOW)).toBeNull();
  });
});
