import { originOf } from './bundle';

const RESULT = { version: 1, command: 128, created_at: '2026-11-30T08:00:00Z' };
const ORIGIN = { command: 128, createdAt: '2026-11-30T08:00:00Z' };

describe('originOf', () => {
  it('has the command, and which of its tables is shown', () => {
    expect(originOf(RESULT)).toEqual({ ...ORIGIN, part: {} });
    expect(originOf({ ...RESULT, part: { table: 2 } })).toEqual({ ...ORIGIN, part: { table: 2 } });
    expect(originOf({ ...RESULT, part: { dump: 1 } })?.part).toEqual({ dump: 1 });
  });

  it('takes the table from the options of a cell whose command goes on', () => {
    const line = { ...RESULT, status: 'running' };
    expect(originOf({ ...line, options: { dump: 'late' } })?.part).toEqual({ dump: 'late' });
    expect(originOf({ ...line, options: { result: 2 } })?.part).toEqual({ sequence_number: 2 });
    expect(originOf({ ...line, options: { format: 'csv' } })?.part).toEqual({});
  });

  it('is none where no table of the command is named, so that no other one is shown', () => {
    const parts = [
      { table: 0 },
      { table: '2' },
      { dump: '' },
      { dump: 1.5 },
      { page: 3 },
      [1],
      'x'
    ];
    expect(parts.map(part => originOf({ ...RESULT, part }))).toEqual(parts.map(() => null));
    const others = [null, 'x', { ...RESULT, version: 2 }, { ...RESULT, command: '128' }];
    expect(others.map(originOf)).toEqual(others.map(() => null));
  });
});
