import type { IRecentRun } from '../service/records/schedules';
import { aSchedule } from '../schedules/testing';
import { byDay, linesOf } from './lines';
import { marksOf, SLOTS, slotOf } from './marks';

const NOW = new Date(2026, 10, 21, 13, 30);
const TODAY = slotOf(NOW, NOW);

function aRun(begin: Date, changes: Partial<IRecentRun> = {}): IRecentRun {
  const start = begin.getTime() / 1000;
  return {
    schedule_id: 12,
    action_id: start,
    command_id: 400,
    name: 'report',
    nominal_time: begin.toISOString(),
    rerun_number: 0,
    status: 'done',
    done: true,
    message: null,
    created_at: begin.toISOString(),
    start_time: start,
    end_time: start + 5,
    ...changes
  };
}

describe('the marks of a line', () => {
  it('puts what begins in six hours together, and shows the failure among them', () => {
    const failed = aRun(new Date(2026, 10, 21, 12), { status: 'error' });
    const later = aRun(new Date(2026, 10, 21, 13));
    const before = aRun(new Date(2026, 10, 20, 13));
    const { marks } = marksOf([later, failed, before], [], true, NOW);
    expect(marks.map(({ slot, count, failed: bad }) => [slot - TODAY, count, bad])).toEqual([
      [0, 2, 1],
      [-4, 1, 0]
    ]);
    expect(marks[0]?.run).toBe(failed);
  });

  it('is as long as its run, and ends at the edge', () => {
    const start = new Date(2026, 10, 12);
    const long = aRun(start, { end_time: new Date(2026, 10, 14, 7).getTime() / 1000 });
    expect(marksOf([long], [], true, NOW).marks).toMatchObject([{ slot: 0, slots: 2 }]);
    const under = aRun(new Date(2026, 10, 21, 1), { end_time: null, done: false });
    expect(marksOf([under], [], true, NOW).marks).toMatchObject([{ slots: 3 }]);
    expect(marksOf([aRun(new Date(2026, 10, 10))], [], true, NOW).marks).toEqual([]);
  });

  it('has planned times from now on, and says where more follow', () => {
    const planned = [21, 22, 23].map(day => new Date(2026, 10, day, 9).toISOString());
    const { marks, further } = marksOf([], planned, false, NOW);
    expect(marks.map(({ slot, run }) => [slot - TODAY, run])).toEqual([
      [3, null],
      [7, null]
    ]);
    expect(further).toBe(TODAY + 8);
    expect(marksOf([], planned, true, NOW).further).toBeNull();
    const late = [new Date(2026, 11, 24).toISOString()];
    expect(marksOf([], late, false, NOW)).toEqual({ marks: [], further: null });
    expect(SLOTS).toBe(60);
  });
});

describe('the lines', () => {
  it('shows schedules whose last run failed first, ended ones last', () => {
    const failure = aRun(NOW, { schedule_id: 2, status: 'error' });
    const mended = [
      aRun(NOW, { schedule_id: 3 }),
      aRun(new Date(2026, 10, 20), { schedule_id: 3, status: 'not_found' })
    ];
    const ended = aRun(NOW, { schedule_id: 4, name: 'gone' });
    const schedules = [1, 2, 3].map(id => aSchedule({ id, name: `s${id}` }));
    const over = aSchedule({ id: 5, status: 'KILLED' });
    const lines = linesOf([...schedules, over], [ended, ...mended, failure]);
    expect(lines.map(line => line.name)).toEqual(['s2', 's3', 's1', 'gone']);
  });

  it('lists runs by day, the failures of a day first', () => {
    const old = aRun(new Date(2026, 10, 20, 9), { status: 'error' });
    const early = aRun(new Date(2026, 10, 21, 8), { status: 'error' });
    const late = aRun(new Date(2026, 10, 21, 9));
    expect(byDay([old, late, early])).toEqual([early, late, old]);
  });
});
