import { columnWidths, numberColumns } from './grid';

describe('columns of a result', () => {
  const columns = ['id', 'name of it', 'note'];
  const rows = [
    ['1', 'a', 'x'.repeat(500)],
    ['-2.5e3', '', '7']
  ];

  it('are as wide as what is in them, up to a limit', () => {
    expect(columnWidths(columns, rows)).toEqual([6, 10, 40]);
  });

  it('hold numbers when every value is one', () => {
    expect(numberColumns(columns, rows)).toEqual([true, false, false]);
    expect(numberColumns(['empty'], [['']])).toEqual([false]);
  });
});
