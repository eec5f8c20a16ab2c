import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { Resource } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import type { ScheduleCalls } from './calls';
import { inOrder } from './order';
import { nextRun } from './words';

/** The state of a notebook's schedules. */
export interface INotebookSchedules {
  /** The running and suspended ones, those that need attention first. */
  schedules: IScheduleRecord[];
  /** Whether their copy is the notebook as last saved. */
  isCopyCurrent: boolean;
}

const INTERVAL = 60_000;
const BUSY_PAUSE = 3_000;
const AFTER_NEXT_RUN = 1_500;
/** The limit of browser timers is 24 days. */
const LONGEST_PAUSE = 3_600_000;

/**
 * The schedules of the open notebooks. One notebook is watched at a time, and only if it has schedules: a notebook
 * without any is read once, when it is opened.
 */
export class NotebookSchedules implements IDisposable {
  constructor(private readonly _calls: ScheduleCalls) {}

  /** Emitted with a notebook's path when its state changed. */
  get changed(): ISignal<this, string> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Return the state of a notebook; undefined before the first answer. */
  of(path: string): INotebookSchedules | undefined {
    return this._resources.get(path)?.state.value;
  }

  /** Keep a notebook's schedules up to date until the returned watch is disposed. */
  watch(path: string): IDisposable {
    const resource = this._resource(path);
    let watch: IDisposable | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      const { value, isLoading } = resource.state;
      if (value === undefined || isLoading) {
        return;
      }
      clearTimeout(timer);
      if (value.schedules.length === 0) {
        watch?.dispose();
        watch = null;
        return;
      }
      watch ??= resource.watch();
      const pause = pauseUntilNews(value.schedules, Date.now());
      if (pause !== null) {
        timer = setTimeout(() => void (document.hidden || resource.refresh()), pause);
      }
    };
    resource.changed.connect(follow);
    watch = resource.watch();
    return new DisposableDelegate(() => {
      clearTimeout(timer);
      resource.changed.disconnect(follow);
      watch?.dispose();
      watch = null;
    });
  }

  /** Read a notebook's schedules now: it was saved, or scheduled. */
  refresh(path: string): Promise<void> {
    return this._resource(path).refresh();
  }

  /** Read again all known notebooks that are watched or have schedules. */
  refreshAll(): void {
    for (const resource of this._resources.values()) {
      if (resource.isWatched || resource.state.value?.schedules.length) {
        void resource.refresh();
      }
    }
  }

  /** Forget a closed notebook. */
  forget(path: string): void {
    this._resources.get(path)?.dispose();
    this._resources.delete(path);
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      [...this._resources.keys()].forEach(path => this.forget(path));
      Signal.clearData(this);
    }
  }

  private _resource(path: string): Resource<INotebookSchedules> {
    let resource = this._resources.get(path);
    if (resource === undefined) {
      resource = new Resource({
        name: 'notebook-schedules',
        fetch: signal => this._read(path, signal),
        interval: INTERVAL
      });
      resource.changed.connect(() => this._changed.emit(path));
      this._resources.set(path, resource);
    }
    return resource;
  }

  private async _read(path: string, signal: AbortSignal): Promise<INotebookSchedules> {
    const schedules = inOrder((await this._calls.ofNotebook(path, signal)).schedules);
    const hasCopy = schedules.some(one => one.command.path); // a note has none
    const isCopyCurrent = !hasCopy || (await this._calls.copyState(path, signal)).is_current;
    return { schedules, isCopyCurrent };
  }

  private readonly _changed = new Signal<this, string>(this);
  private readonly _resources = new Map<string, Resource<INotebookSchedules>>();
  private _isDisposed = false;
}

/** Return the milliseconds until a change is expected; null for not before the next regular poll. */
export function pauseUntilNews(schedules: readonly IScheduleRecord[], now: number): number | null {
  if (schedules.some(one => one.last_action && !one.last_action.done)) {
    return BUSY_PAUSE;
  }
  const next = schedules.map(nextRun).filter(moment => moment !== null);
  if (next.length === 0) {
    return null;
  }
  const first = Math.min(...next.map(moment => moment.getTime()));
  return Math.min(Math.max(first - now, 0) + AFTER_NEXT_RUN, LONGEST_PAUSE);
}
