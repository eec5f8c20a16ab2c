import type { IRunAlert } from '../service/records/schedules';
import { type ITrouble, Troubles, untilNextLook } from './troubles';
import { aSchedule } from './testing';
import type { IListedSchedule } from './words';

const NOW = new Date('2026-11-22T08:00:00Z');

function listed(id: number, change: Partial<IListedSchedule> = {}): IListedSchedule {
  return { ...aSchedule({ id }), ...change };
}

function action(id: number, status: string): Pick<IListedSchedule, 'last_action'> {
  const nominal_time = '2026-11-22T07:00:00Z';
  const done = !['running', 'waiting'].includes(status);
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

function alert(action_id: number, change: Partial<IRunAlert> = {}): IRunAlert {
  const nominal_time = '2026-11-22T02:00:00Z';
  return { alert: 'late', action_id, nominal_time, since: '2026-11-22T07:00:00Z', ...change };
}

describe('Troubles', () => {
  it('tells of no run that had failed, or was late, before the first look', () => {
    const known = listed(1, { ...action(1, 'error'), alerts: [alert(1)] });
    expect(new Troubles().since([known])).toEqual([]);
  });

  it('tells of each alert once', () => {
    const troubles = new Troubles();
    const told = (...alerts: IRunAlert[]): ITrouble['alert'][] =>
      troubles.since([listed(1, { ...action(3, 'running'), alerts })]).map(one => one.alert);
    told();
    expect(told(alert(2))).toEqual([alert(2)]);
    expect(told(alert(2))).toEqual([]);
    const slow = { alert: 'long', since: '2026-11-22T07:10:00Z' } as const;
    expect(told(alert(2), alert(2, slow))).toEqual([alert(2, slow)]);
    // the following run was due at the same moment; it takes long, too
    expect(told(alert(3), alert(3, slow))).toEqual([alert(3, slow)]);
    const tomorrow = alert(3, { since: '2026-11-23T07:00:00Z' });
    expect(told(tomorrow)).toEqual([tomorrow]);
  });

  it('tells of a failure and of an earlier run that is late', () => {
    const troubles = new Troubles();
    troubles.since([]);
    const found = troubles.since([listed(1, { ...action(2, 'error'), alerts: [alert(1)] })]);
    expect(found.map(one => one.alert)).toEqual([null, alert(1)]);
  });

  it('tells of each failed run once', () => {
    const troubles = new Troubles();
    const told = (...schedules: IListedSchedule[]): IListedSchedule[] =>
      troubles.since(schedules).map(one => one.schedule);
    told(listed(1, action(1, 'error')), listed(2));
    const failed = listed(2, action(2, 'error'));
    expect(told(listed(1, action(1, 'error')), failed)).toEqual([failed]);
    expect(told(listed(1, action(1, 'error')), failed)).toEqual([]);
    const again = listed(1, action(3, 'not_found'));
    expect(told(again, failed)).toEqual([again]);
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

  it('is half a minute while a run that waits may become late', () => {
    const waits = {
      next_materialized_time: '2026-11-22 09:00',
      time_zone: 'UTC',
      ...action(1, 'waiting')
    };
    expect(untilNextLook([listed(1, waits)], NOW)).toBe(3_630_000);
    expect(untilNextLook([listed(1, { ...waits, due_by: '08:30' })], NOW)).toBe(30_000);
    const done = { ...waits, ...action(1, 'done'), due_by: '08:30' };
    expect(untilNextLook([listed(1, done)], NOW)).toBe(3_630_000);
  });

  it('is never for schedules that do not run', () => {
    expect(untilNextLook([listed(1, { status: 'SUSPENDED' })], NOW)).toBeNull();
  });
});
