import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { CommandFollower } from '../service';
import {
  type CommandStatus,
  hasEnded,
  type ICommand,
  secondsTaken
} from '../service/records/commands';
import { elapsed, iconOf, span } from '../words';
import type { Tone } from './healthWords';

/** Maximum number of commands shown, the latest ones. */
const SHOWN = 5;

/** The line of a followed command: an icon and a sentence. */
export interface ICommandLine {
  id: number;
  icon: string;
  text: string;
  tone: Tone;
}

interface IFollowed {
  record: ICommand;
  doing: string;
  /** Unix time in milliseconds. */
  begun: number;
  ended: number | null;
  follower: CommandFollower | null;
}

const TONES: Readonly<Record<CommandStatus, Tone>> = {
  waiting: 'calm',
  running: 'calm',
  done: 'good',
  error: 'bad',
  cancelled: 'calm'
};

/** The commands that a panel has started, each followed to its end while the panel is shown. */
export class FollowedCommands implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _ended = new Signal<this, void>(this);
  private _all: IFollowed[] = [];
  private _isShown = false;
  private _isDisposed = false;

  /** `now` returns the Unix time in milliseconds. */
  constructor(
    private readonly _follow: (id: number) => CommandFollower,
    private readonly _trans: TranslationBundle,
    private readonly _now: () => number
  ) {}

  /** Emitted when a command reports something new. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted when a command has ended. */
  get ended(): ISignal<this, void> {
    return this._ended;
  }

  /** The ids of the commands that have not ended. */
  get running(): number[] {
    return this._all.filter(one => one.ended === null).map(one => one.record.id);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Follow commands from now on, with a description (`adding 1 node`); ended ones are forgotten. */
  add(records: ICommand[], doing: string): void {
    const begun = this._now();
    const added = records.map(record => ({ record, doing, begun, ended: null, follower: null }));
    this._all = [...this._all.filter(one => one.ended === null), ...added];
    this.show(this._isShown);
  }

  /** Set whether the panel is shown: commands are followed only then. */
  show(isShown: boolean): void {
    this._isShown = isShown;
    for (const one of this._all) {
      if (!isShown) {
        one.follower?.dispose();
        one.follower = null;
      } else if (one.ended === null && one.follower === null) {
        one.follower = this._follow(one.record.id);
        one.follower.changed.connect(follower => this._hear(one, follower));
      }
    }
  }

  /** Return a line for each, the latest last. */
  lines(): ICommandLine[] {
    return this._all.slice(-SHOWN).map(one => this._line(one));
  }

  dispose(): void {
    this.show(false);
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private _hear(one: IFollowed, follower: CommandFollower): void {
    one.record = follower.command ?? one.record;
    if (one.ended === null && hasEnded(one.record)) {
      one.ended = this._now();
      this._ended.emit();
    }
    this._changed.emit();
  }

  private _line(one: IFollowed): ICommandLine {
    const { record, doing } = one;
    const taken = secondsTaken(record);
    const time =
      taken === null
        ? span(this._trans, ((one.ended ?? this._now()) - one.begun) / 1000)
        : elapsed(this._trans, taken);
    const parts = [`${doing}: ${this._ending(record.status, time)}`, words(record.message)];
    if (one.ended === null) {
      const trouble = one.follower?.error?.message ?? '';
      parts.splice(0, 2, doing, words(record.message) || record.status, time, trouble);
    }
    const text = [this._trans.__('command %1', record.id), ...parts].filter(Boolean).join(' · ');
    return { id: record.id, icon: iconOf(record.status), tone: TONES[record.status], text };
  }

  private _ending(status: CommandStatus, time: string): string {
    switch (status) {
      case 'done':
        return this._trans.__('done in %1', time);
      case 'cancelled':
        return this._trans.__('cancelled after %1', time);
      default:
        return this._trans.__('failed after %1', time);
    }
  }
}

function words(text: string | null | undefined): string {
  return (text ?? '').split(/\s+/).filter(Boolean).join(' ');
}
