import { columnWidths, enlarged, fittingWidth, type INeeds, needsOf } from './layout';
import { formatOf, type IColumn, type Row } from './values';

const COLUMNS: readonly IColumn[] = [
  { name: 'size', type: 'integer' },
  { name: 'note', type: 'text' }
];
const FIRST: readonly Row[] = [
  [1, 'a'],
  [2, 'b']
];
const LONG = 'a text that is longer than its column';
const widthOf = (text: string): number => 10 * text.length;
const measured = (columns: readonly IColumn[]) =>
  columns.map((column, index) => ({
    column: { ...column, index },
    format: formatOf(column, [])
  }));
const CELLS = measured(COLUMNS);
const SHOWN = CELLS.map(({ column }) => column);
const BY_GRID: ReadonlyMap<string, number> = new Map();

function needs(columns: readonly IColumn[], rows: readonly Row[]): INeeds {
  const formats = columns.map(column => formatOf(column, []));
  return needsOf(columns, formats, [], rows, widthOf);
}

describe('enlarged', () => {
  const known = needs(COLUMNS, FIRST);

  it('has room for each number, and leaves texts cut', () => {
    const larger = enlarged(known, CELLS, [[17_999_999, LONG]], widthOf);
    expect(larger.values).toEqual([100 + 22, known.values[1]]);
  });

  it('shows the lines of a text whole', () => {
    const lines = [{ name: 'line', type: 'text' }];
    const cells = measured(lines);
    const shown = cells.map(({ column }) => column);
    const first = needs(lines, [['a'.repeat(90)]]);
    expect(columnWidths(shown, first, BY_GRID, 0)).toEqual([900 + 22]);
    const larger = enlarged(first, cells, [['b'.repeat(120)]], widthOf);
    expect(columnWidths(shown, larger, BY_GRID, 0)).toEqual([1200 + 22]);
  });

  it('never makes a column narrower, and is the same where nothing changes', () => {
    const large = enlarged(known, CELLS, [[17_999_999, '']], widthOf);
    expect(enlarged(large, CELLS, FIRST, widthOf)).toBe(large);
  });
});

describe('columnWidths', () => {
  const known: INeeds = { heads: [100, 90], values: [80, 400] };

  it('is at most 320 pixels, and shares the room that there is', () => {
    expect(columnWidths(SHOWN, known, BY_GRID, 0)).toEqual([100, 320]);
    expect(columnWidths(SHOWN, known, BY_GRID, 840)).toEqual([200, 640]);
  });

  it('leaves room for the next column beside a text in a narrow box, and cuts no number there', () => {
    const wide: INeeds = { heads: [100, 90], values: [350, 400] };
    expect(columnWidths(SHOWN, wide, BY_GRID, 200)).toEqual([350, 160]);
    expect(columnWidths(SHOWN, { heads: [400, 0], values: [80, 0] }, BY_GRID, 200)).toEqual([
      160, 56
    ]);
  });

  it('is what was set by hand, and the other columns keep theirs', () => {
    expect(columnWidths(SHOWN, known, new Map([['note', 900]]), 840)).toEqual([200, 900]);
    expect(columnWidths(SHOWN, known, new Map([['note', 5]]), 840)).toEqual([200, 40]);
  });

  it('never cuts a number that was seen', () => {
    expect(columnWidths(SHOWN, known, new Map([['size', 10]]), 0)).toEqual([80, 320]);
    const larger = enlarged(known, CELLS, [[17_999_999, '']], widthOf);
    expect(columnWidths(SHOWN, larger, new Map([['size', 10]]), 0)).toEqual([122, 320]);
  });
});

describe('fittingWidth', () => {
  const [size, note] = CELLS;

  it('has room for the head and for each value', () => {
    const known = needs(COLUMNS, FIRST);
    const rows = [[1, LONG]];
    expect(note && fittingWidth(note, known, rows, widthOf)).toBe(370 + 22);
    expect(size && fittingWidth(size, known, rows, widthOf)).toBe(known.heads[0]);
  });

  it('goes by the widest value, which need not be the longest', () => {
    const wide = (text: string): number => (text === 'WW' ? 500 : 10 * text.length);
    const rows = [
      [1, 'WW'],
      [2, 'iii']
    ];
    expect(note && fittingWidth(note, needs(COLUMNS, FIRST), rows, wide)).toBe(500 + 22);
  });
});
