import type { IDisposable } from '@lumino/disposable';
import { asServiceError, pathOf, type ServiceRequests } from '../service';
import { hasEnded, type ICommand, secondsTaken } from '../service/records/commands';

/** How long a command must have taken for its end to be announced, in seconds. */
const LONG = 60;
/** Milliseconds between two looks at commands that no list shows. */
const INTERVAL = 15_000;
/** The most commands that are followed at once. */
const FOLLOWED = 20;

/**
 * Hears of the end of long commands that were seen running, also when no list shows them any more.
 *
 * It makes no call unless such a command is known, and none while the page is hidden.
 */
export class Endings implements IDisposable {
  /** When each running command was read last, in Unix milliseconds. */
  private readonly _running = new Map<number, number>();
  private _timer: ReturnType<typeof setTimeout> | null = null;
  private _isDisposed = false;

  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _onEnd: (command: ICommand) => void
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._running.clear();
    clearTimeout(this._timer ?? undefined);
  }

  /** Take in commands as they were read. */
  see(commands: readonly ICommand[]): void {
    for (const command of commands) {
      const { id } = command;
      if (hasEnded(command)) {
        if (this._running.delete(id) && isAnnounced(command)) {
          this._onEnd(command);
        }
      } else if (this._running.has(id) || this._running.size < FOLLOWED) {
        this._running.set(id, Date.now());
      }
    }
    this._lookLater();
  }

  private _lookLater(): void {
    if (this._timer === null && this._running.size > 0) {
      this._timer = setTimeout(() => void this._look(), INTERVAL);
    }
  }

  private async _look(): Promise<void> {
    const unseen = [...this._running].filter(([, seen]) => seen <= Date.now() - INTERVAL);
    const read = document.hidden ? [] : await Promise.all(unseen.map(([id]) => this._read(id)));
    this._timer = null;
    if (!this._isDisposed) {
      this.see(read.filter(command => command !== null));
    }
  }

  private async _read(id: number): Promise<ICommand | null> {
    try {
      return await this._requests.get<ICommand>(pathOf('commands', id));
    } catch (reason) {
      if (!asServiceError(reason).isUnreachable) {
        this._running.delete(id);
      }
      return null; // an unreachable service is asked again
    }
  }
}

/** A cancellation is known to its user, and the runs of a schedule are announced with the schedule. */
function isAnnounced(command: ICommand): boolean {
  const { status, command_source: source } = command;
  const isLong = (secondsTaken(command) ?? 0) >= LONG;
  return isLong && status !== 'cancelled' && source !== 'SCHEDULED';
}
