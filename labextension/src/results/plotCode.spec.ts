import { plotCode } from './plotCode';
import { ALL_ROWS, type IRowsQuery } from './query';

const line = { kind: 'line', x: 'hour', y: 'dep delay' } as const;

function codeOf(part: Partial<IRowsQuery>): string {
  return plotCode(line, { ...ALL_ROWS, ...part }, ['128']).replace(
    "%svc_plot 128 -x hour -y 'dep delay' --chart line",
    ''
  );
}

describe('plotCode', () => {
  it('names the variable, the columns and the chart', () => {
    expect(plotCode(line, ALL_ROWS, ['delays'])).toBe(
      "%svc_plot delays -x hour -y 'dep delay' --chart line"
    );
    expect(plotCode({ ...line, kind: 'histogram' }, ALL_ROWS, ['128', '--dump=late ones'])).toBe(
      "%svc_plot 128 '--dump=late ones' -x hour"
    );
  });

  it('chooses the same rows', () => {
    expect(codeOf({ where: [{ column: 'origin', operator: '=', value: "O'Hare $1" }] })).toBe(
      ` --where 'origin = O'"'"'Hare $1'`
    );
    expect(codeOf({ where: [{ column: 'dep delay', operator: '>', value: 30 }] })).toBe(
      ` --where '["dep delay",">",30]'`
    );
    expect(codeOf({ where: [{ column: 'note', operator: 'contains', value: 'a\nb' }] })).toBe(
      ` --where '["note","contains","a\\nb"]'`
    );
    expect(codeOf({ where: [{ column: 'gate', operator: 'is_null', value: false }] })).toBe(
      " --where 'gate is_null false'"
    );
    expect(codeOf({ search: '-x' })).toBe(' --search=-x');
  });

  it('orders bars as the rows are', () => {
    const sort = [{ column: 'dep delay', isDescending: true }];
    expect(codeOf({ sort })).toBe('');
    expect(plotCode({ ...line, kind: 'bar' }, { ...ALL_ROWS, sort }, ['delays'])).toBe(
      "%svc_plot delays -x hour -y 'dep delay' --chart bar '--sort=-dep delay'"
    );
  });
});
