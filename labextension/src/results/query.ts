import type { IColumn, Value } from './values';

/** How the rows of a result are sorted by one column. */
export interface ISort {
  readonly column: string;
  readonly isDescending: boolean;
}

/** The operators of filters. */
export const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', 'contains', 'is_null'] as const;
export type Operator = (typeof OPERATORS)[number];

/** A condition that rows fulfil. `is_null` takes true or false. */
export interface IFilter {
  readonly column: string;
  readonly operator: Operator;
  readonly value: Value;
}

/** Which rows of a result are shown, and in which order. */
export interface IRowsQuery {
  readonly sort: readonly ISort[];
  readonly search: string;
  readonly where: readonly IFilter[];
}

export const ALL_ROWS: IRowsQuery = { sort: [], search: '', where: [] };

/** Return whether the query leaves out rows. */
export function isFiltered(query: IRowsQuery): boolean {
  return query.search !== '' || query.where.length > 0;
}

/**
 * Return a query that is sorted by the next order of a column: ascending, descending, none. The other columns keep
 * theirs if `isFurther`.
 */
export function sortedBy(query: IRowsQuery, column: string, isFurther: boolean): IRowsQuery {
  const at = query.sort.findIndex(sort => sort.column === column);
  const old = query.sort[at];
  const next: ISort[] =
    old === undefined
      ? [{ column, isDescending: false }]
      : old.isDescending
        ? []
        : [{ column, isDescending: true }];
  const sort = !isFurther
    ? next
    : old === undefined
      ? [...query.sort, ...next]
      : [...query.sort.slice(0, at), ...next, ...query.sort.slice(at + 1)];
  return { ...query, sort };
}

/** Return the parameters of a query in a call. */
export function parameters(query: IRowsQuery): Record<string, string> {
  const { sort, search, where } = query;
  return {
    sort: listed(sort.map(({ column, isDescending }) => (isDescending ? '-' : '') + column)),
    search,
    where:
      where.length === 0
        ? ''
        : JSON.stringify(where.map(({ column, operator, value }) => [column, operator, value]))
  };
}

/** Return names as one parameter: separated by commas, or as JSON where a name has one. */
export function listed(names: readonly string[]): string {
  return names.some(name => /[,[\]"]/.test(name)) ? JSON.stringify(names) : names.join(',');
}

/**
 * Return the value of a filter from what was typed: a number for columns of numbers, true or false for booleans; null
 * if it is neither.
 */
export function typedValue(column: IColumn, operator: Operator, typed: string): Value {
  const text = typed.trim();
  if (operator === 'contains') {
    return typed;
  }
  switch (column.type) {
    case 'integer':
    case 'number':
    case 'decimal': {
      const plain = text.replace(/,(?=\d{3})/g, '');
      const number = Number(plain);
      if (plain === '' || Number.isNaN(number)) {
        return /^nan$/i.test(plain) ? 'NaN' : null;
      }
      // A number that JavaScript would round goes as it was typed.
      return String(number) === plain ? number : plain;
    }
    case 'boolean':
      return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : null;
    default:
      return typed;
  }
}
