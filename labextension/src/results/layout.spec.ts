import { columnWidths, widened } from './layout';
import { formatOf, type IColumn, type Row } from './values';

const COLUMNS: readonly IColumn[] = [
  { name: 'size', type: 'integer' },
  { name: 'note', type: 'text' }
];
const FIRST: readonly Row[] = [
  [1, 'a'],
  [2, 'b']
];
const FORMATS = COLUMNS.map(column => formatOf(column, []));
const CELLS = COLUMNS.map((column, index) => ({
  column: { ...column, index },
  format: FORMATS[index] ?? String
}));
const widthOf = (text: string): number => 10 * text.length;

describe('widened', () => {
  const widths = columnWidths(COLUMNS, FORMATS, ['', ''], FIRST, widthOf);

  it('has room for each number, and leaves texts cut', () => {
    const rows: Row[] = [[17_999_999, 'a text that is longer than its column']];
    const wider = widened(widths, CELLS, rows, widthOf);
    expect(wider).toEqual([10 * '17,999,999'.length + 22, widths[1]]);
  });

  it('shows the lines of a text whole', () => {
    const lines: readonly IColumn[] = [{ name: 'line', type: 'text' }];
    const formats = lines.map(column => formatOf(column, []));
    const known = columnWidths(lines, formats, [''], [['a'.repeat(90)]], widthOf);
    expect(known).toEqual([900 + 22]);
    const cells = [
      { column: { name: 'line', type: 'text', index: 0 }, format: formats[0] ?? String }
    ];
    expect(widened(known, cells, [['b'.repeat(120)]], widthOf)).toEqual([1200 + 22]);
  });

  it('never makes a column narrower, and is the same where nothing changes', () => {
    const wide = widened(widths, CELLS, [[17_999_999, '']], widthOf);
    expect(widened(wide, CELLS, FIRST, widthOf)).toBe(wide);
  });
});
