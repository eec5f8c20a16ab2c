import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { ScheduleCalls } from '../schedules/calls';
import { Resource } from '../service';
import type { IRecentRuns, IScheduleBody, IScheduleRecord } from '../service/records/schedules';

const INTERVAL = 10_000;
/** The rows of one scroll are asked for together. */
const GATHERED = 100;
const RETRY = 10_000;
const MOST_AT_ONCE = 100;
const KNOWN = 2_000;
/** The service shows this many next times; a service that shows fewer shows five. */
const SHOWN = [200, 5];

/** The next times of a schedule, ISO 8601, and whether it has no others. */
export interface INextTimes {
  times: readonly string[];
  isAll: boolean;
}

/** The recent runs of all schedules, and the next times of those that are on the page. */
export class RunsModel implements IDisposable {
  constructor(private readonly _calls: ScheduleCalls) {
    this.recent = new Resource<IRecentRuns>({
      name: 'recent-runs',
      fetch: signal => this._calls.recentRuns(signal),
      interval: INTERVAL
    });
  }

  readonly recent: Resource<IRecentRuns>;

  /** Emitted when next times have arrived. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this.recent.isDisposed;
  }

  /** Return the next times of a schedule; undefined before they have arrived. */
  nextTimes(schedule: IScheduleRecord): INextTimes | undefined {
    return this._known.get(keyOf(schedule));
  }

  /** Read the next times of a schedule unless they are known or the returned watch is disposed before. */
  want(schedule: IScheduleRecord): IDisposable {
    const key = keyOf(schedule);
    this._wanted.set(key, timetableOf(schedule));
    this._readIn(GATHERED);
    return new DisposableDelegate(() => void this._wanted.delete(key));
  }

  dispose(): void {
    clearTimeout(this._timer);
    this.recent.dispose();
    Signal.clearData(this);
  }

  private _readIn(pause: number): void {
    this._timer ??= setTimeout(() => void this._read(), pause);
  }

  private async _read(): Promise<void> {
    const missing = [...this._wanted].filter(([key]) => !this._known.has(key));
    const asked = missing.slice(0, MOST_AT_ONCE);
    let pause = missing.length > asked.length ? 0 : null;
    if (asked.length > 0) {
      try {
        const found = await this._calls.nextTimes(asked.map(([, timetable]) => timetable));
        asked.forEach(([key], place) => {
          const times = found[place] ?? [];
          this._known.set(key, { times, isAll: !SHOWN.includes(times.length) });
        });
        [...this._known.keys()].slice(0, -KNOWN).forEach(key => this._known.delete(key));
      } catch {
        pause = RETRY; // the page shows the same error of what it reads regularly
      }
    }
    this._timer = undefined;
    if (!this.isDisposed) {
      this._changed.emit();
      if (pause !== null) {
        this._readIn(pause);
      }
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _known = new Map<string, INextTimes>();
  private readonly _wanted = new Map<string, IScheduleBody>();
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

function timetableOf(schedule: IScheduleRecord): IScheduleBody {
  const { start_time, end_time, frequency, time_unit, cron_expression, time_zone } = schedule;
  return { start_time, end_time, frequency, time_unit, cron_expression, time_zone };
}

/** They change with the timetable, and when the next one has passed. */
function keyOf(schedule: IScheduleRecord): string {
  return JSON.stringify([timetableOf(schedule), schedule.next_materialized_time]);
}
