import type { IValueAnswer, ResultCalls } from './calls';
import { ResultModel } from './model';
import { ALL_ROWS } from './query';

const NOTE = { name: 'note', type: 'text' };
const COLUMNS = [{ name: 'id', type: 'integer' }, NOTE];
const CUT = `${'x'.repeat(1000)}…`;
const ROWS = [
  [1, 'short'],
  [2, CUT]
];
const WHOLE: IValueAnswer = { value: 'x'.repeat(5000), is_cut: false };

let model: ResultModel;

afterEach(() => model.dispose());

/** A service that has whole values, and what it was asked for. */
function service(): { calls: ResultCalls; asked: unknown[] } {
  const asked: unknown[] = [];
  const value = (...wanted: unknown[]): Promise<IValueAnswer> => {
    asked.push(wanted.slice(0, 3));
    return Promise.resolve(WHOLE);
  };
  return { calls: { command: 1, value } as unknown as ResultCalls, asked };
}

describe('the width of a column', () => {
  it('is kept for the rows of another query, until it is left to the grid again', async () => {
    const first = { columns: COLUMNS, rows: ROWS, offset: 0, total: 2 };
    const calls = { rows: () => Promise.resolve(first) } as unknown as ResultCalls;
    model = new ResultModel(calls, { first });
    model.setWidth('id', 90);
    model.setWidth('note', 400);
    const before = model.state.shown;
    model.ask({ ...ALL_ROWS, sort: [{ column: 'note', isDescending: false }] });
    await new Promise(resolve => setTimeout(resolve));
    expect(model.state.shown).not.toBe(before);
    expect([...model.state.widths]).toEqual([
      ['id', 90],
      ['note', 400]
    ]);
    model.setWidth('note', null);
    expect([...model.state.widths]).toEqual([['id', 90]]);
  });
});

describe('a whole value', () => {
  it('is asked for where the page of rows has a part of it', async () => {
    const { calls, asked } = service();
    const first = { columns: COLUMNS, rows: ROWS, offset: 0, total: 2 };
    model = new ResultModel(calls, { first });
    expect(await model.whole(0, NOTE)).toEqual({ value: 'short', is_cut: false });
    expect(asked).toEqual([]);
    expect(model.known(1, NOTE)).toEqual({ value: CUT, is_cut: true });
    expect(await model.whole(1, NOTE)).toBe(WHOLE);
    expect(asked).toEqual([[ALL_ROWS, 1, 'note']]);
  });

  it('is what was saved where the service cannot be asked', async () => {
    const { calls, asked } = service();
    model = new ResultModel(calls, { saved: { columns: COLUMNS, rows: ROWS, total: 2 } });
    expect(await model.whole(1, NOTE)).toEqual({ value: CUT, is_cut: true });
    expect(asked).toEqual([]);
  });
});
