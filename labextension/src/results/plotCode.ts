import type { IPlot } from './plotSpec';
import type { IFilter, IRowsQuery } from './query';

/** Return the line that draws a chart in a notebook; `result` are the words that name the result. */
export function plotCode(plot: IPlot, query: IRowsQuery, result: readonly string[]): string {
  const words = ['%svc_plot', ...result, '-x', plot.x];
  if (plot.kind !== 'histogram') {
    words.push('-y', plot.y, '--chart', plot.kind);
  }
  for (const filter of query.where) {
    words.push('--where', condition(filter));
  }
  if (query.search !== '') {
    words.push(`--search=${query.search}`);
  }
  if (plot.kind === 'bar') {
    words.push(
      ...query.sort.map(({ column, isDescending }) => `--sort=${isDescending ? '-' : ''}${column}`)
    );
  }
  return words.map(quoted).join(' ');
}

/** Return a filter in words or, where these could be read in two ways, as JSON. */
function condition({ column, operator, value }: IFilter): string {
  if (operator === 'is_null') {
    return value === false ? `${column} is_null false` : `${column} is_null`;
  }
  const isPlain = /^[\w.]+$/.test(column) && !/[\r\n]/.test(String(value));
  return isPlain
    ? `${column} ${operator} ${String(value)}`
    : JSON.stringify([column, operator, value]);
}

/** Return a word of a magic's line, in quotes where it needs them. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
