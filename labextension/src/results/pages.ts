import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, type ServiceError } from '../service';
import type { IRowsAnswer } from './calls';
import type { Row } from './values';

/** Milliseconds that a scroll must rest before rows that it came across are read. */
const REST = 60;
/** Maximum number of values that are kept. */
const KEPT_VALUES = 400_000;
/** Pages that are kept however wide they are: those of a window and its neighbours. */
const LEAST_PAGES = 6;

/** Reads rows; rejects when the signal is aborted. */
export type ReadRows = (offset: number, limit: number, signal: AbortSignal) => Promise<IRowsAnswer>;

/**
 * Rows of one query, read by pages where they are wanted; the pages used last are kept.
 *
 * A page that is no longer wanted before its answer came is aborted, so a quick scroll through a million rows reads only
 * where it rests.
 */
export class PagedRows implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  /** The least recently used page first. */
  private readonly _pages = new Map<number, readonly Row[]>();
  private readonly _reading = new Map<number, AbortController>();
  private _wanted: readonly number[] = [];
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _lastWant = -Infinity;
  private _error: ServiceError | null = null;
  private _isDisposed = false;
  private readonly _mostPages: number;

  /**
   * @param _read - Reads rows.
   * @param size - Rows of a page.
   * @param columnCount - Columns of a row; determines how many pages are kept.
   */
  constructor(
    private readonly _read: ReadRows,
    readonly size: number,
    columnCount: number
  ) {
    this._mostPages = Math.max(
      LEAST_PAGES,
      Math.floor(KEPT_VALUES / (size * Math.max(1, columnCount)))
    );
  }

  /** Emitted when rows came, or could not be read. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Why wanted rows could not be read; null when they could. */
  get error(): ServiceError | null {
    return this._error;
  }

  /** Number of pages in memory. */
  get kept(): number {
    return this._pages.size;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Return a row; undefined while it is not read. */
  row(index: number): Row | undefined {
    return this._pages.get(Math.floor(index / this.size))?.[index % this.size];
  }

  /** Keep a page that was read elsewhere. */
  keep(page: number, rows: readonly Row[]): void {
    this._pages.delete(page);
    this._pages.set(page, rows);
    for (const oldest of this._pages.keys()) {
      if (this._pages.size <= this._mostPages) {
        break;
      }
      if (!this._wanted.includes(oldest)) {
        this._pages.delete(oldest);
      }
    }
  }

  /** Read the rows from `first` up to but not including `end`; a later call takes the place of this one. */
  want(first: number, end: number): void {
    const pages: number[] = [];
    for (let page = Math.floor(Math.max(0, first) / this.size); page * this.size < end; page++) {
      pages.push(page);
    }
    this._wanted = pages;
    for (const [page, reading] of this._reading) {
      if (!pages.includes(page)) {
        reading.abort();
        this._reading.delete(page);
      }
    }
    for (const page of pages) {
      const rows = this._pages.get(page);
      if (rows !== undefined) {
        this.keep(page, rows);
      }
    }
    clearTimeout(this._timer);
    const now = performance.now();
    const isMoving = now - this._lastWant < REST;
    this._lastWant = now;
    if (this._missing().length > 0) {
      if (isMoving) {
        this._timer = setTimeout(() => this._readMissing(), REST);
      } else {
        this._readMissing();
      }
    }
  }

  /** Read again what could not be read. */
  retry(): void {
    this._error = null;
    this._changed.emit();
    this._readMissing();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      clearTimeout(this._timer);
      this._reading.forEach(reading => reading.abort());
      Signal.clearData(this);
    }
  }

  private _missing(): number[] {
    return this._wanted.filter(page => !this._pages.has(page) && !this._reading.has(page));
  }

  private _readMissing(): void {
    // After a failure the reader decides when to try again: a service that is away is not asked at each scroll.
    if (!this._isDisposed && this._error === null) {
      this._missing().forEach(page => void this._readPage(page));
    }
  }

  private async _readPage(page: number): Promise<void> {
    const reading = new AbortController();
    this._reading.set(page, reading);
    try {
      const { rows } = await this._read(page * this.size, this.size, reading.signal);
      if (!reading.signal.aborted) {
        this._reading.delete(page);
        this.keep(page, rows);
        this._changed.emit();
      }
    } catch (reason) {
      if (!reading.signal.aborted) {
        this._reading.delete(page);
        this._error = asServiceError(reason);
        this._changed.emit();
      }
    }
  }
}
