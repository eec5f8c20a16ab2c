import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, type ServiceError } from '../service';
import type { IRowsAnswer, IStatistics, IValueAnswer, ResultCalls } from './calls';
import { PagedRows } from './pages';
import { ALL_ROWS, type IRowsQuery } from './query';
import { type Format, formatOf, type IColumn, isCut, isUtc, type Row, type Value } from './values';

/** Rows of a page, unless they are so wide that fewer are read at once. */
const PAGE_ROWS = 100;
const PAGE_VALUES = 40_000;
const LEAST_PAGE_ROWS = 20;
/** Rows that determine how values are written, and how wide columns are. */
const SAMPLE_ROWS = 100;

/** The first rows of a result, as saved in a notebook or read from a service that does not page results. */
export interface ISavedRows {
  readonly columns: readonly IColumn[];
  readonly rows: readonly Row[];
  /** Rows of the result. */
  readonly total: number;
}

/** Why only the saved rows are shown: the service's error, or its command of this id is another one. */
export type Problem = ServiceError | 'another command';

/** What is shown of a result. */
export interface IResultState {
  readonly columns: readonly IColumn[];
  /** How the values of each column are written. */
  readonly formats: readonly Format[];
  /** Whether a column's timestamps are all in UTC. */
  readonly utc: readonly boolean[];
  /** Names of the columns that are not shown. */
  readonly hidden: ReadonlySet<string>;
  /** The widths in pixels that were set by hand, by the names of the columns. */
  readonly widths: ReadonlyMap<string, number>;
  /** The query asked for last. */
  readonly query: IRowsQuery;
  /** The query of the rows shown. */
  readonly shown: IRowsQuery;
  /** Rows that the shown query finds. */
  readonly total: number;
  /** Rows of the result. */
  readonly of: number;
  /** Rows at the beginning that can be seen: all, or those that were saved. */
  readonly reachable: number;
  /** Whether all rows can be had from the service. */
  readonly isPaged: boolean;
  readonly isReading: boolean;
  readonly problem: Problem | null;
  /** Of the columns whose statistics were asked for, over the rows of the shown query. */
  readonly statistics: ReadonlyMap<string, IStatistics>;
}

/** Options of a `ResultModel`; it has saved rows, or a first answer. */
export interface IResultOptions {
  readonly saved?: ISavedRows;
  readonly first?: IRowsAnswer;
  /** Why there are only saved rows, where it is known already. */
  readonly problem?: ServiceError;
  /** The variable of the notebook that has the result. */
  readonly variable?: string | null;
  /** The creation time of the command that has the result, if the service's may be another one. */
  readonly createdAt?: string;
}

/** The rows of a command's result: saved ones at once, then all of them from the service, by pages. */
export class ResultModel implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _saved: readonly Row[];
  private _pages: PagedRows | null = null;
  private _loading: AbortController | null = null;
  private _isKnown: boolean;
  private _isDisposed = false;
  private _state: IResultState;
  /** The scroll position, kept while the view is not in the page. */
  readonly scroll = { top: 0, left: 0 };

  constructor(
    readonly calls: ResultCalls,
    private readonly _options: IResultOptions
  ) {
    const { saved, first } = _options;
    const { columns, rows, total } = saved ?? first ?? { columns: [], rows: [], total: 0 };
    this._saved = saved?.rows ?? [];
    this._isKnown = _options.createdAt === undefined;
    this._state = {
      columns,
      ...written(columns, rows),
      hidden: new Set(),
      widths: new Map(),
      query: ALL_ROWS,
      shown: ALL_ROWS,
      total,
      of: total,
      reachable: this._saved.length,
      isPaged: false,
      isReading: false,
      problem: _options.problem ?? null,
      statistics: new Map()
    };
    if (first !== undefined) {
      this._take(ALL_ROWS, first);
    }
  }

  /** Emitted when the state or rows have changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The current state; a new object after each change. */
  get state(): IResultState {
    return this._state;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The result's name in a line of code: its variable in the notebook, or its command and which of its tables. */
  get codeWords(): readonly string[] {
    const { variable } = this._options;
    const { command, part } = this.calls;
    return variable
      ? [variable]
      : [String(command), ...Object.entries(part).map(([kind, which]) => `--${kind}=${which}`)];
  }

  /** Begin to read from the service; once is enough. */
  connect(): void {
    if (!this._state.isPaged && this._loading === null && this._state.problem === null) {
      void this._load(this._state.query);
    }
  }

  /** Try again what failed. */
  retry(): void {
    if (this._pages?.error) {
      this._become({ problem: null });
      this._pages.retry();
    } else {
      void this._load(this._state.query);
    }
  }

  /** Show the rows of another query; the old ones stay until the first new ones are there. */
  ask(query: IRowsQuery): void {
    void this._load(query);
  }

  /** Show or hide a column. */
  show(column: string, isShown: boolean): void {
    const hidden = new Set(this._state.hidden);
    if (isShown) {
      hidden.delete(column);
    } else {
      hidden.add(column);
    }
    this._become({ hidden });
  }

  /** Show all columns, or only the first. */
  showAll(isShown: boolean): void {
    const names = this._state.columns.slice(1).map(({ name }) => name);
    this._become({ hidden: new Set(isShown ? [] : names) });
  }

  /** Set the width of a column in pixels; null leaves it to the grid again. */
  setWidth(column: string, width: number | null): void {
    const widths = new Map(this._state.widths);
    if (width === null) {
      widths.delete(column);
    } else {
      widths.set(column, width);
    }
    this._become({ widths });
  }

  /** Return a row of the shown query, with the values of all columns; undefined while it is not read. */
  row(index: number): Row | undefined {
    return this._pages === null ? this._saved[index] : this._pages.row(index);
  }

  /** Read the rows from `first` up to but not including `end`, and those beside them. */
  want(first: number, end: number): void {
    const pages = this._pages;
    if (pages !== null) {
      const beside = Math.min(pages.size, PAGE_ROWS) / 2;
      pages.want(Math.max(0, first - beside), Math.min(this._state.total, end + beside));
    }
  }

  /** Return rows of the shown query, up to `most`, for a copy; of some columns only if they are given. */
  async rows(from: number, end: number, columns?: readonly string[]): Promise<Row[]> {
    const { shown, columns: all } = this._state;
    const indices = columns?.map(name => all.findIndex(column => column.name === name));
    const chosen = (row: Row): Row => indices?.map(index => row[index] ?? null) ?? row;
    const known = Array.from({ length: end - from }, (_, offset) => this.row(from + offset));
    if (this._pages === null || known.every(row => row !== undefined)) {
      return known.filter(row => row !== undefined).map(chosen);
    }
    const rows: Row[] = [];
    while (from + rows.length < end) {
      const limit = Math.min(1000, end - from - rows.length);
      const answer = await this.calls.rows(shown, from + rows.length, limit, undefined, columns);
      if (answer.rows.length === 0) {
        break;
      }
      rows.push(...answer.rows);
    }
    return rows;
  }

  /** Return what is known of the value of a column in a row of the shown query. */
  known(row: number, column: IColumn): IValueAnswer {
    const index = this._state.columns.findIndex(({ name }) => name === column.name);
    const value = this.row(row)?.[index] ?? null;
    return { value, is_cut: isCut(value) };
  }

  /** Return this value whole; as it is known, where there are only the saved rows. */
  async whole(row: number, column: IColumn, signal?: AbortSignal): Promise<IValueAnswer> {
    const { isPaged, shown } = this._state;
    const known = this.known(row, column);
    const isHere = this.row(row) !== undefined;
    return isHere && !(isPaged && known.is_cut)
      ? known
      : this.calls.value(shown, row, column.name, signal);
  }

  /** Read the statistics of a column over the rows of the shown query. */
  async askStatistics(column: string): Promise<IStatistics> {
    const { shown, statistics } = this._state;
    const found = statistics.get(column) ?? (await this.calls.statistics(shown, column));
    if (this._state.shown === shown) {
      this._become({ statistics: new Map(this._state.statistics).set(column, found) });
    }
    return found;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._loading?.abort();
      this._pages?.dispose();
      Signal.clearData(this);
    }
  }

  private async _load(query: IRowsQuery): Promise<void> {
    this._loading?.abort();
    const loading = new AbortController();
    this._loading = loading;
    const { signal } = loading;
    this._become({ query, isReading: true, problem: null });
    try {
      if (!this._isKnown) {
        const createdAt = await this.calls.createdAt(signal);
        this._isKnown = createdAt === this._options.createdAt;
      }
      const answer = this._isKnown
        ? await this.calls.rows(query, 0, pageRows(this._state.columns.length), signal)
        : null;
      if (signal.aborted || this._isDisposed) {
        return;
      }
      if (answer === null) {
        this._become({ problem: 'another command', isReading: false });
      } else {
        this._take(query, answer);
      }
    } catch (reason) {
      if (!signal.aborted && !this._isDisposed) {
        this._become({ problem: asServiceError(reason), isReading: false });
      }
    } finally {
      if (this._loading === loading) {
        this._loading = null;
      }
    }
  }

  private _take(query: IRowsQuery, answer: IRowsAnswer): void {
    const { columns, rows, total } = answer;
    const size = pageRows(columns.length);
    const read = (offset: number, limit: number, signal: AbortSignal): Promise<IRowsAnswer> =>
      this.calls.rows(query, offset, limit, signal);
    const pages = new PagedRows(read, size, columns.length);
    if (rows.length >= Math.min(size, total)) {
      pages.keep(0, rows.slice(0, size));
    }
    pages.changed.connect(() => this._become({ problem: pages.error }));
    this._pages?.dispose();
    this._pages = pages;
    const isFirst = !this._state.isPaged;
    if (!isFirst) {
      this.scroll.top = 0;
    }
    this._become({
      columns,
      ...written(columns, rows),
      query,
      shown: query,
      total,
      of: answer.of ?? (isFirst ? total : this._state.of),
      reachable: total,
      isPaged: true,
      isReading: false,
      problem: null,
      statistics: new Map()
    });
  }

  private _become(part: Partial<IResultState>): void {
    if (!this._isDisposed) {
      this._state = { ...this._state, ...part };
      this._changed.emit();
    }
  }
}

/** What a service, or a Jupyter server, answers that does not know the address of rows. */
const NO_ADDRESS = /^(404|not found|there is nothing at)/i;

/** Whether the service, or the Jupyter server, does not know the address of rows. */
export function isUnsupported(problem: Problem): boolean {
  return (
    problem !== 'another command' &&
    (problem.status === 405 || (problem.status === 404 && NO_ADDRESS.test(problem.message)))
  );
}

function pageRows(columnCount: number): number {
  const rows = Math.floor(PAGE_VALUES / Math.max(1, columnCount));
  return Math.max(LEAST_PAGE_ROWS, Math.min(PAGE_ROWS, rows));
}

function written(
  columns: readonly IColumn[],
  rows: readonly Row[]
): Pick<IResultState, 'formats' | 'utc'> {
  const sample = (column: number): Value[] =>
    rows.slice(0, SAMPLE_ROWS).map(row => row[column] ?? null);
  return {
    formats: columns.map((column, index) => formatOf(column, sample(index))),
    utc: columns.map((column, index) => isUtc(column, sample(index)))
  };
}
