import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { Resource, type ServiceError } from '../service';
import type { IActionRecord, IScheduleRecord } from '../service/records/schedules';
import type { ScheduleCalls } from './calls';

const INTERVAL = 5_000;

/** A schedule and its newest actions. */
export interface IScheduleLook {
  schedule: IScheduleRecord;
  /** Newest first: the first page, and the older ones that were loaded. */
  actions: IActionRecord[];
  hasMore: boolean;
}

/** One schedule with its actions. The newest page is polled; an older one is read once, on request. */
export class ScheduleDetailModel implements IDisposable {
  constructor(
    readonly calls: ScheduleCalls,
    readonly id: number
  ) {
    this.look = new Resource<IScheduleLook>({
      name: 'schedule-detail',
      fetch: signal => this._read(signal),
      interval: INTERVAL
    });
  }

  readonly look: Resource<IScheduleLook>;

  /** Emitted when another action is selected. */
  get selectionChanged(): ISignal<this, void> {
    return this._selectionChanged;
  }

  /** The action whose log is shown, or null. */
  get selected(): number | null {
    return this._selected;
  }

  get isDisposed(): boolean {
    return this.look.isDisposed;
  }

  /** Show an action's log. */
  select(id: number | null): void {
    this._selected = id;
    this._selectionChanged.emit();
  }

  /** Read the next older page of actions. Resolves with the error, or null. */
  async more(): Promise<ServiceError | null> {
    if (!this.look.state.value?.hasMore || this._isReadingMore) {
      return null;
    }
    this._isReadingMore = true;
    this._pages += 1;
    try {
      await this._readPage(this._pages);
    } catch (reason) {
      this._pages -= 1;
      return reason as ServiceError;
    } finally {
      this._isReadingMore = false;
    }
    await this.look.refresh();
    return null;
  }

  dispose(): void {
    this.look.dispose();
    Signal.clearData(this);
  }

  private async _read(signal: AbortSignal): Promise<IScheduleLook> {
    const [schedule] = await Promise.all([
      this.calls.one(this.id, signal),
      this._readPage(1, signal)
    ]);
    const actions = [...this._actions.values()].sort((one, other) => other.id - one.id);
    return { schedule, actions, hasMore: this._hasMore };
  }

  private async _readPage(page: number, signal?: AbortSignal): Promise<void> {
    const list = await this.calls.actions(this.id, page, signal);
    list.actions.forEach(action => this._actions.set(action.id, action));
    if (page === this._pages) {
      this._hasMore = list.paging_info.next_page !== null;
    }
  }

  private readonly _selectionChanged = new Signal<this, void>(this);
  private readonly _actions = new Map<number, IActionRecord>();
  private _pages = 1;
  private _hasMore = false;
  private _isReadingMore = false;
  private _selected: number | null = null;
}
