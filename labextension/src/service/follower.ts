import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, type ServiceError } from './errors';
import { serviceEvents } from './events';
import { hasEnded, type ICommand } from './records/commands';
import type { ServiceRequests } from './requests';

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
const POLL_PAUSE = 2_000;
/** Characters of a log that may arrive in `FLOOD_PAUSE` milliseconds; nobody reads more than that. */
const FLOOD_CHARACTERS = 512 * 1024;
const FLOOD_PAUSE = 250;
/** Bytes of a log's end that are read after a flood. */
const FLOOD_TAIL = 128 * 1024;
/** An offset beyond the end of any log: the answer then reports only the log's length. */
const BEYOND_ANY_LOG = 1e15;

/** Options of a follower. */
export interface IFollowerOptions {
  /** Whether to follow the log too. */
  withLog?: boolean;
  /** The byte offset at which to begin the log. */
  logFrom?: number;
  /** Waits some milliseconds; tests pass a simulated clock. */
  pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Follows one command to its end, by the service's events, or by polling if it sends none.
 *
 * A broken connection is reopened after increasing pauses, after the last byte of the log that arrived. Of a log that
 * grows faster than it can be shown, parts are skipped: the service keeps all of it.
 */
export class CommandFollower implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _logged = new Signal<this, string>(this);
  private readonly _skipped = new Signal<this, void>(this);
  private readonly _end = new AbortController();
  private readonly _pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  private readonly _withLog: boolean;
  private _command: ICommand | null = null;
  private _error: ServiceError | null = null;
  /** Whether the service has sent all of it: the record of the end, and the whole log before. */
  private _isComplete = false;
  private _rows: number | null = null;
  private _offset = 0;
  /** Bytes of the log of unfinished work, which other services keep separately. */
  private _others = 0;
  private readonly _decoder = new TextDecoder();

  constructor(
    private readonly _requests: ServiceRequests,
    readonly id: number,
    options: IFollowerOptions = {}
  ) {
    this._pause = options.pause ?? pause;
    this._withLog = options.withLog ?? false;
    this._offset = options.logFrom ?? 0;
    this.finished = this._follow();
  }

  /** Resolves when the command has ended, or is no longer followed. Never rejects. */
  readonly finished: Promise<void>;

  /** Emitted when the record or the error changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted with each further part of the log. */
  get logged(): ISignal<this, string> {
    return this._logged;
  }

  /** Emitted when a part of the log is skipped: what comes next may begin within a line. */
  get skipped(): ISignal<this, void> {
    return this._skipped;
  }

  /** The last known record; null before the first answer. */
  get command(): ICommand | null {
    return this._command;
  }

  /** Rows of the result so far, if the service reports them. */
  get rows(): number | null {
    return this._rows;
  }

  /** Why it cannot be followed at present, or null. */
  get error(): ServiceError | null {
    return this._error;
  }

  get isDisposed(): boolean {
    return this._end.signal.aborted;
  }

  /** Stop following; the command continues. */
  dispose(): void {
    if (!this.isDisposed) {
      this._end.abort();
      Signal.clearData(this);
    }
  }

  private async _follow(): Promise<void> {
    let failures = 0;
    let sendsEvents = true;
    while (!this._end.signal.aborted) {
      try {
        if (sendsEvents && !(await this._listen())) {
          await this._pause(FLOOD_PAUSE, this._end.signal);
          await this._skip();
          continue;
        }
        if (!sendsEvents) {
          await this._ask();
        }
        failures = 0;
      } catch (reason) {
        const error = asServiceError(reason);
        if (sendsEvents && [404, 405, 406].includes(error.status)) {
          sendsEvents = false;
          continue;
        }
        failures += 1;
        this._fail(error);
      }
      if (this.isDisposed || this._isOver()) {
        return;
      }
      const wanted = sendsEvents ? FIRST_PAUSE : POLL_PAUSE;
      await this._pause(
        Math.min(LONGEST_PAUSE, wanted * 2 ** Math.max(0, failures - 1)),
        this._end.signal
      );
    }
  }

  /** Return whether no change is expected: it has ended, does not exist or is not visible to the caller. */
  private _isOver(): boolean {
    return this._isComplete || [401, 403, 404].includes(this._error?.status ?? 0);
  }

  /** Take events until their end; return false at a flood of the log. */
  private async _listen(): Promise<boolean> {
    let since = performance.now();
    let taken = 0;
    const resumeAt = this._offset === 0 ? '' : String(this._offset);
    for await (const { event, id, data } of serviceEvents(
      this._requests,
      `commands/${this.id}/events`,
      this._end.signal,
      resumeAt
    )) {
      if (event === 'status' || event === 'end') {
        this._isComplete = event === 'end';
        this._become(data as ICommand);
      } else if (event === 'progress' && this._command !== null) {
        const { progress, rows } = data as { progress: number; rows: number | null };
        this._rows = rows;
        this._become({ ...this._command, progress });
      } else if (event === 'log') {
        const { text } = data as { text: string };
        this._offset = Number(id);
        this._say(text);
        const now = performance.now();
        taken = now - since > FLOOD_PAUSE ? text.length : taken + text.length;
        since = now - since > FLOOD_PAUSE ? now : since;
        if (this._withLog && taken > FLOOD_CHARACTERS) {
          return false;
        }
      }
    }
    return true;
  }

  /** Go on at the end of a log that is far ahead. */
  private async _skip(): Promise<void> {
    const length = await logLength(this._requests, this.id, this._end.signal);
    const start = length - FLOOD_TAIL;
    if (start > this._offset && !this.isDisposed) {
      this._offset = start;
      this._skipped.emit();
    }
  }

  private async _ask(): Promise<void> {
    const signal = this._end.signal;
    const command = await this._requests.get<ICommand>(`commands/${this.id}`, {}, signal);
    if (this._withLog) {
      const query = { err_file_processed: this._offset, tmp_file_processed: this._others };
      const answer = await this._requests.send('GET', `commands/${this.id}/logs`, {
        query,
        signal
      });
      this._say(this._added(new Uint8Array(await answer.arrayBuffer()), answer.headers));
    }
    this._isComplete = hasEnded(command);
    this._become(command);
  }

  /** Return what an answer adds, and advance; work that has ended comes again, in the other log. */
  private _added(bytes: Uint8Array, headers: Headers): string {
    const added = Number(headers.get('err_length') ?? bytes.length);
    const others = Number(headers.get('tmp_length') ?? 0);
    const again = added > 0 ? this._others : 0;
    this._offset += added;
    this._others = added > 0 ? others : this._others + others;
    return this._decoder.decode(bytes.subarray(again), { stream: true });
  }

  private _say(text: string): void {
    if (this._withLog && text !== '' && !this.isDisposed) {
      this._logged.emit(text);
    }
  }

  private _become(command: ICommand): void {
    this._command = command;
    this._error = null;
    this._tell();
  }

  private _fail(error: ServiceError): void {
    if (!this.isDisposed) {
      this._error = error;
      this._tell();
    }
  }

  private _tell(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }
}

/** Return the length of a command's log in bytes. */
export async function logLength(
  requests: ServiceRequests,
  id: number,
  signal: AbortSignal
): Promise<number> {
  const query = { err_file_processed: BEYOND_ANY_LOG };
  const answer = await requests.send('GET', `commands/${id}/logs`, { query, signal });
  return Number(answer.headers.get('log_length') ?? 0);
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
