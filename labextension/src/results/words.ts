import type { TranslationBundle } from '@jupyterlab/translation';
import { count } from '../words';
import type { IValueAnswer, ResultCalls } from './calls';
import type { IFilter, IRowsQuery, Operator } from './query';
import { isFiltered } from './query';
import { type IResultState, isUnsupported, type Problem } from './model';
import { formatOf, type IColumn, type Value, wholeText } from './values';

/** Return a value as it is written in texts about a column. */
export function written(column: IColumn, value: Value): string {
  return formatOf(column, [value])(value);
}

/** Return what the rows are: the result of a command, or one of its tables. */
export function resultName(trans: TranslationBundle, { command, part }: ResultCalls): string {
  const { dump, table, sequence_number: number } = part;
  return dump !== undefined
    ? trans.__('DUMP %1 of command %2', dump, command)
    : table !== undefined
      ? trans.__('Table %1 of command %2', table, command)
      : number !== undefined
        ? trans.__('Result of sub-command %1 of command %2', number, command)
        : trans.__('Result of command %1', command);
}

/** Return an operator as it is shown to be chosen. */
export function operatorWord(trans: TranslationBundle, operator: Operator): string {
  const words: Partial<Record<Operator, string>> = {
    '!=': '≠',
    '<=': '≤',
    '>=': '≥',
    contains: trans.__('contains'),
    is_null: trans.__('is null')
  };
  return words[operator] ?? operator;
}

/** Return a filter in words: `origin = JFK`. */
export function filterWords(
  trans: TranslationBundle,
  filter: IFilter,
  columns: readonly IColumn[]
): string {
  if (filter.operator === 'is_null') {
    return filter.value === false
      ? trans.__('%1 is not null', filter.column)
      : trans.__('%1 is null', filter.column);
  }
  const column = columns.find(({ name }) => name === filter.column);
  const value = column === undefined ? String(filter.value) : written(column, filter.value);
  return `${filter.column} ${operatorWord(trans, filter.operator)} ${value}`;
}

/** Return a type as shown in a column's head. */
export function typeWord(trans: TranslationBundle, type: string): string {
  const words: Record<string, string> = {
    text: trans.__('text'),
    integer: trans.__('integer'),
    number: trans.__('number'),
    decimal: trans.__('decimal'),
    boolean: trans.__('boolean'),
    timestamp: trans.__('timestamp'),
    date: trans.__('date'),
    time: trans.__('time'),
    binary: trans.__('binary'),
    nested: trans.__('nested')
  };
  return words[type] ?? type;
}

/** Return the line below the rows: which are seen, of how many, and in which order. */
export function footer(
  trans: TranslationBundle,
  state: IResultState,
  first: number,
  end: number
): string {
  const { total, of, reachable, shown } = state;
  const numbers = [count(Math.min(first + 1, end)), count(end), count(total), count(of)] as const;
  const rows =
    reachable === 0
      ? trans.__('no rows')
      : total === of
        ? trans.__('rows %1–%2 of %3', ...numbers)
        : trans.__('rows %1–%2 of %3 (of %4)', ...numbers);
  return [
    total === 0 && of > 0 ? trans.__('no rows (of %1)', count(of)) : rows,
    sortWords(trans, shown),
    trans.__('values as in the data when copied')
  ]
    .filter(Boolean)
    .join(' · ');
}

function sortWords(trans: TranslationBundle, query: IRowsQuery): string {
  const columns = query.sort.map(({ column }) => column).join(', ');
  return columns === '' ? '' : trans.__('sorted by %1', columns);
}

/** Return how long a value is, how much of it is here, and how much of that is shown. */
export function valueWords(
  trans: TranslationBundle,
  { value, is_cut: isCut }: IValueAnswer,
  rest: 'reading' | 'saved' | 'download',
  most: number
): string {
  const text = wholeText(value);
  const pairs = text.match(/[\uD800-\uDBFF]/g)?.length ?? 0; // one character in two units of JavaScript
  const length = text.length - pairs - (isCut ? 1 : 0);
  return [
    isCut
      ? trans.__('the first %1 characters', count(length))
      : trans._n('%1 character', '%1 characters', length).replace(/^\d+/, count(length)),
    isCut && restWord(trans, rest),
    length > most && trans.__('%1 of them below', count(most))
  ]
    .filter(Boolean)
    .join(' · ');
}

function restWord(trans: TranslationBundle, rest: 'reading' | 'saved' | 'download'): string {
  switch (rest) {
    case 'reading':
      return trans.__('reading …');
    case 'saved':
      return trans.__('as saved');
    case 'download':
      return trans.__('whole in a download');
  }
}

/** Return why only the saved rows, or not all rows, are shown. */
export function problemWords(
  trans: TranslationBundle,
  problem: Problem,
  state: IResultState,
  command: number
): string {
  const reason =
    problem === 'another command'
      ? trans.__('command %1 of this service is another one', command)
      : problem.isUnreachable
        ? trans.__('the service does not answer')
        : isUnsupported(problem)
          ? trans.__('this service does not page results')
          : problem.message;
  if (state.isPaged) {
    return isFiltered(state.query) || state.query !== state.shown
      ? trans.__('These rows could not be read: %1.', reason)
      : trans.__('Not all rows could be read: %1.', reason);
  }
  return state.reachable < state.total
    ? trans.__(
        'The first %1 of %2 rows, as saved: %3.',
        count(state.reachable),
        count(state.total),
        reason
      )
    : trans.__('The rows as saved: %1.', reason);
}
