import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { Resource, type ServiceError } from '../service';
import type { IActionRecord, ICopyState, IScheduleRecord } from '../service/records/schedules';
import type { ScheduleCalls } from './calls';
import { type IRun, runsOf } from './runs';
import { notebookOf } from './steps';

const INTERVAL = 5_000;
const COPY_INTERVAL = 30_000;

/** A schedule and its newest runs. */
export interface IScheduleLook {
  schedule: IScheduleRecord;
  /** Newest first: the first page of actions and the older ones that were loaded, and the runs by hand among them. */
  runs: IRun[];
  hasMore: boolean;
}

/** One schedule with its runs. The newest page is polled; an older one is read once, on request. */
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
    this.copy = new Resource<ICopyState>({
      name: 'schedule-copy',
      fetch: signal => this._readCopy(signal),
      interval: COPY_INTERVAL
    });
  }

  readonly look: Resource<IScheduleLook>;
  /** Whether the notebook is the same as the copy that runs; no value for a schedule without a copy of this server. */
  readonly copy: Resource<ICopyState>;

  /** Emitted when another run is selected. */
  get selectionChanged(): ISignal<this, void> {
    return this._selectionChanged;
  }

  /** The key of the run whose log is shown, or null. */
  get selected(): string | null {
    return this._selected;
  }

  get isDisposed(): boolean {
    return this.look.isDisposed;
  }

  /** Show a run's log. */
  select(key: string | null): void {
    this._selected = key;
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
    this.copy.dispose();
    Signal.clearData(this);
  }

  private async _read(signal: AbortSignal): Promise<IScheduleLook> {
    const [schedule, byHand] = await Promise.all([
      this.calls.one(this.id, signal),
      this.calls.runsByHand(this.id, signal),
      this._readPage(1, signal)
    ]);
    const actions = [...this._actions.values()];
    const oldest = this._hasMore ? actions.map(action => action.created_at).sort()[0] : undefined;
    const among = byHand.filter(one => oldest === undefined || one.created_at >= oldest);
    return { schedule, runs: runsOf(actions, among), hasMore: this._hasMore };
  }

  private async _readCopy(signal: AbortSignal): Promise<ICopyState> {
    const known = this.look.state.value?.schedule ?? (await this.calls.one(this.id, signal));
    const notebook = notebookOf(known);
    return notebook === null
      ? { path: '', is_current: true }
      : this.calls.copyState(notebook, signal);
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
  private _selected: string | null = null;
}
