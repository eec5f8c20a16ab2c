import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, type ServiceError } from './errors';

/** The state of a resource. A failure keeps the last value, so that a page can show both. */
export interface IResourceState<T> {
  readonly value?: T;
  /** When `value` was read. */
  readonly asOf?: Date;
  /** Why the latest read failed; absent after a success. */
  readonly error?: ServiceError;
  readonly isLoading: boolean;
}

/** How and how often a resource is read. */
export interface IResourceOptions<T> {
  name: string;
  fetch: (signal: AbortSignal) => Promise<T>;
  /** Milliseconds between two reads while it is shown. */
  interval?: number;
  /** Milliseconds up to which failures increase the interval. */
  longestInterval?: number;
}

/**
 * A resource of the service that is polled only while a visible component shows it.
 *
 * A component that shows it holds a watch (`watch`, in React `useResource`); when the last watch is disposed, polling
 * stops and a running read is aborted. A hidden browser page does not poll either.
 */
export class Resource<T> implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _poll: Poll<void>;
  private readonly _fetch: (signal: AbortSignal) => Promise<T>;
  private _state: IResourceState<T> = { isLoading: false };
  private _watches = 0;
  private _reading: AbortController | null = null;

  constructor(options: IResourceOptions<T>) {
    const interval = options.interval ?? 5_000;
    this._fetch = options.fetch;
    this._poll = new Poll({
      auto: false,
      name: `svc-jupyter:${options.name}`,
      factory: () => this._read(),
      frequency: {
        interval,
        backoff: true,
        max: options.longestInterval ?? Math.max(interval, 60_000)
      },
      standby: () => this._watches === 0 || document.hidden
    });
  }

  /** Emitted at every change of `state`. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The current state; a new object after each change. If a read returns an equal value, the object is kept. */
  get state(): IResourceState<T> {
    return this._state;
  }

  /** Whether a component shows it. */
  get isWatched(): boolean {
    return this._watches > 0;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  /** Poll it until the returned watch is disposed. */
  watch(): IDisposable {
    this._watches += 1;
    if (this._watches === 1) {
      void this._readSoon();
    }
    return new DisposableDelegate(() => {
      this._watches -= 1;
      if (this._watches === 0 && !this.isDisposed) {
        void this._poll.stop();
        this._reading?.abort();
      }
    });
  }

  /** Read it now. Resolves after success or failure; `state` has the result. */
  async refresh(): Promise<void> {
    if (this.isDisposed) {
      return;
    }
    if (this._watches === 0) {
      await this._read().catch(() => undefined);
      return;
    }
    await this._readSoon();
    await this._poll.tick.catch(() => undefined);
  }

  /** Set a value from another source, such as the answer to a change. */
  set(value: T): void {
    this._become({ value: this._kept(value), asOf: new Date(), isLoading: false });
  }

  /** Forget the value, such as that of another filter: the state is as before the first read. */
  clear(): void {
    this._become({ isLoading: true });
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._reading?.abort();
      this._poll.dispose();
      Signal.clearData(this);
    }
  }

  /** Read again even during a read, which may be outdated; `Poll.refresh` would do nothing then. */
  private _readSoon(): Promise<void> {
    return this._poll.schedule({ interval: Poll.IMMEDIATE, phase: 'refreshed' });
  }

  private async _read(): Promise<void> {
    this._reading?.abort();
    const reading = new AbortController();
    this._reading = reading;
    this._become({ ...this._state, isLoading: true });
    try {
      const value = await this._fetch(reading.signal);
      if (!reading.signal.aborted) {
        this.set(value);
      }
    } catch (reason) {
      if (!reading.signal.aborted) {
        const { value, asOf } = this._state;
        const known = value === undefined || asOf === undefined ? {} : { value, asOf };
        this._become({ ...known, error: asServiceError(reason), isLoading: false });
        throw reason;
      }
    } finally {
      if (this._reading === reading) {
        this._reading = null;
        if (this._state.isLoading) {
          this._become({ ...this._state, isLoading: false });
        }
      }
    }
  }

  private _kept(value: T): T {
    const before = this._state.value;
    const same =
      before !== undefined &&
      JSONExt.deepEqual(
        before as unknown as ReadonlyJSONValue,
        value as unknown as ReadonlyJSONValue
      );
    return same ? before : value;
  }

  private _become(state: IResourceState<T>): void {
    if (!this.isDisposed) {
      this._state = state;
      this._changed.emit();
    }
  }
}
