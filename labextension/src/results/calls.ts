import { pathOf, type ServiceRequests } from '../service';
import { ALL_ROWS, type IRowsQuery, listed, parameters } from './query';
import type { IColumn, Row, Value } from './values';

/** Answer of `GET commands/ID/rows`. */
export interface IRowsAnswer {
  readonly columns: readonly IColumn[];
  readonly rows: readonly Row[];
  readonly offset: number;
  /** Rows that the query finds. */
  readonly total: number;
  /** Rows of the result. */
  readonly of?: number;
}

/** Answer of `GET commands/ID/rows/value`. */
export interface IValueAnswer {
  readonly value: Value;
  /** Whether the value is the beginning of a longer text, and an ellipsis. */
  readonly is_cut: boolean;
}

/** A bin of a histogram; times are ISO 8601. */
export interface IBin {
  readonly from: Value;
  readonly to: Value;
  readonly count: number;
}

/** Answer of `GET commands/ID/columns/NAME/summary`; what a type does not have is null. */
export interface IStatistics {
  readonly name: string;
  readonly type: string;
  readonly count: number;
  readonly nulls: number;
  /** Null when it is unknown. */
  readonly distinct?: number | null;
  readonly min?: Value;
  readonly max?: Value;
  readonly mean?: Value;
  /** Of numbers, dates and times with a date. */
  readonly histogram?: readonly IBin[] | null;
  /** The most frequent values of other types, unless they are too many to count. */
  readonly top?: readonly { readonly value: Value; readonly count: number }[] | null;
}

/** A point or bar of a chart, which stands for one row or more. */
export interface IChartPoint {
  readonly x: Value;
  /** The end of the range that a bar stands for, where it is of more than one value. */
  readonly to?: Value;
  /** The mean of the rows; null where they have no number. */
  readonly y: Value;
  readonly low?: Value;
  readonly high?: Value;
  /** Rows with a number in y. */
  readonly count: number;
}

/** Answer of `GET commands/ID/rows/points`. */
export interface IChartPoints {
  readonly x: IColumn;
  readonly y: IColumn;
  readonly points: readonly IChartPoint[];
  /** Whether there are more values than bars. */
  readonly is_cut: boolean;
  /** Rows that the query finds. */
  readonly total: number;
}

/** The forms in which a whole result can be saved: their media types, and how their files' names end. */
export const FILE_FORMATS = {
  CSV: { type: 'text/csv', ending: 'csv' },
  Parquet: { type: 'application/vnd.apache.parquet', ending: 'parquet' },
  Arrow: { type: 'application/vnd.apache.arrow.stream', ending: 'arrows' }
} as const;
/** The name of such a form. */
export type FileFormat = keyof typeof FILE_FORMATS;

/** Which of several tables of a command is meant; without a word its result. Numbers count from 1. */
export interface IPart {
  /** A DUMP of a Pig command: its number, or its alias for the last one of it. */
  readonly dump?: number | string;
  /** A table of a note's run. */
  readonly table?: number;
  /** A sub-command of a composite. */
  readonly sequence_number?: number;
}

/** Rows that the first answer has. */
const FIRST_ROWS = 100;

/** The rows of one command's result, or of one of its tables, read through the Jupyter server. */
export class ResultCalls {
  constructor(
    private readonly _requests: ServiceRequests,
    readonly command: number,
    readonly part: IPart = {}
  ) {}

  /** Return `limit` rows from `offset` on; of some columns only if they are given. */
  rows(
    query: IRowsQuery,
    offset: number,
    limit: number,
    signal?: AbortSignal,
    columns?: readonly string[]
  ): Promise<IRowsAnswer> {
    const range = { offset, limit, columns: listed(columns ?? []) };
    return this._requests.get(this._path, { ...this._of(query), ...range }, signal);
  }

  /** Return the first rows, and how many there are. */
  first(signal?: AbortSignal): Promise<IRowsAnswer> {
    return this.rows(ALL_ROWS, 0, FIRST_ROWS, signal);
  }

  /** Return the whole value of a column in a row of the query, counted from 0. */
  value(
    query: IRowsQuery,
    row: number,
    column: string,
    signal?: AbortSignal
  ): Promise<IValueAnswer> {
    return this._requests.get(`${this._path}/value`, { ...this._of(query), row, column }, signal);
  }

  /** Return the statistics of a column over all rows that the query finds. */
  statistics(query: IRowsQuery, column: string): Promise<IStatistics> {
    const { search = '', where = '' } = parameters(query);
    const path = pathOf('commands', this.command, 'columns', column, 'summary');
    return this._requests.get(path, { search, where, ...this.part });
  }

  /** Return the points of a chart of all rows that the query finds. */
  points(
    query: IRowsQuery,
    chart: 'line' | 'bar' | 'scatter',
    x: string,
    y: string,
    signal: AbortSignal
  ): Promise<IChartPoints> {
    return this._requests.get(`${this._path}/points`, { ...this._of(query), chart, x, y }, signal);
  }

  /** Return the whole result as a file, whatever the query. */
  async file(format: FileFormat): Promise<Blob> {
    const path = pathOf('commands', this.command, 'results');
    const headers = { Accept: FILE_FORMATS[format].type };
    return (await this._requests.send('GET', path, { headers, query: { ...this.part } })).blob();
  }

  /** Return the time of the command's creation, as the service writes it. */
  async createdAt(signal?: AbortSignal): Promise<string> {
    const path = pathOf('commands', this.command);
    return (await this._requests.get<{ created_at: string }>(path, {}, signal)).created_at;
  }

  private _of(query: IRowsQuery): Record<string, string | number> {
    return { ...parameters(query), ...this.part };
  }

  private get _path(): string {
    return pathOf('commands', this.command, 'rows');
  }
}
