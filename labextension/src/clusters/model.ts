import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, type CommandFollower } from '../service';
import type { ICommand } from '../service/records/commands';
import type { ClusterCalls } from './calls';
import { FollowedCommands } from './followed';
import {
  addedBy,
  doingOf,
  type IStepQuestion,
  obstacleTo,
  obstacleToRemoval,
  possibleSteps,
  type Step
} from './steps';
import { type IClusterView, isMoving, phaseOf, workersOf } from './view';

/** How often a visible panel refreshes, in milliseconds: during a change, and otherwise. */
export const BUSY_PERIOD = 1_000;
export const CALM_PERIOD = 5_000;
/** How long the service may take to answer, in milliseconds, before the displayed state is called unknown. */
const LATE = 4_000;
const LONGEST_PERIOD = 60_000;

/** The state and the steps of one cluster's panel. */
export class ClusterModel implements IDisposable {
  private readonly _poll: Poll;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _performed = new Signal<this, void>(this);
  private _view: IClusterView | null = null;
  private _target = 0;
  private _problem: string | null = null;
  private _doubt: string | null = null;
  private _note = '';
  private _isWorking = false;
  private _isShown = false;
  /** Of two concurrent refreshes the later one is used. */
  private _looks = 0;

  /** `follow` follows a command to its end, `now` returns the Unix time in milliseconds. */
  constructor(
    readonly cluster: number,
    private readonly _calls: ClusterCalls,
    follow: (id: number) => CommandFollower,
    private readonly _trans: TranslationBundle,
    readonly now: () => number = Date.now
  ) {
    this.commands = new FollowedCommands(follow, _trans, now);
    this.commands.changed.connect(() => this._changed.emit());
    this.commands.ended.connect(() => void this.refresh());
    this._poll = new Poll({
      auto: false,
      factory: () => this._look(),
      frequency: { interval: CALM_PERIOD, backoff: true, max: LONGEST_PERIOD },
      name: `svc-jupyter:cluster-${cluster}`,
      standby: () => !this._isShown || document.hidden
    });
  }

  /** The commands that this panel has started. */
  readonly commands: FollowedCommands;

  /** Emitted after each change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Emitted after each step that the service has taken. */
  get performed(): ISignal<this, void> {
    return this._performed;
  }

  /** The last view; null before the first refresh. */
  get view(): IClusterView | null {
    return this._view;
  }

  /** The requested number of workers; nothing happens before a step. */
  get target(): number {
    return this._target;
  }

  /** The service's refusal, or null. */
  get problem(): string | null {
    return this._problem;
  }

  /** Why `view` may be out of date; null when it is current. */
  get doubt(): string | null {
    return this._doubt;
  }

  /** The message of the last step. */
  get note(): string {
    return this._note;
  }

  /** Whether a step is in progress. */
  get isWorking(): boolean {
    return this._isWorking;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  /** The steps possible now: none during a step or without a view. */
  get steps(): ReadonlySet<Step> {
    if (!this._view || this._isWorking || this._doubt !== null) {
      return new Set();
    }
    const steps = new Set(possibleSteps(this._view));
    if (this._target === workersOf(this._view.state).length || this.obstacle !== null) {
      steps.delete('resize');
    }
    if (obstacleToRemoval(this._trans, this._view) !== null) {
      steps.delete('remove');
    }
    return steps;
  }

  /** Why the cluster cannot get the requested number of workers, or null. */
  get obstacle(): string | null {
    return this._view && obstacleTo(this._trans, this._view, this._target);
  }

  /** Milliseconds between two refreshes. */
  get period(): number {
    const moves = this._view !== null && isMoving(phaseOf(this._view));
    return moves || this.commands.running.length > 0 ? BUSY_PERIOD : CALM_PERIOD;
  }

  /** Set whether the panel is visible: it calls the service only then. */
  show(isShown: boolean): void {
    this._isShown = isShown;
    this.commands.show(isShown);
    if (isShown) {
      void this._lookSoon();
    } else if (!this.isDisposed) {
      void this._poll.stop();
    }
  }

  /** Refresh now. Resolves when done or failed; `doubt` has the failure. */
  async refresh(): Promise<void> {
    if (!this.isDisposed && this._isShown) {
      await this._lookSoon();
      await this._poll.tick.catch(() => undefined);
    }
  }

  /** Look again even during a look, which may be outdated; `Poll.refresh` would do nothing then. */
  private _lookSoon(): Promise<void> {
    return this._poll.schedule({ interval: Poll.IMMEDIATE, phase: 'refreshed' });
  }

  /** Look again if the cluster is reported in another state than is shown. */
  hear(phase: string | undefined): void {
    const shown = this._view && phaseOf(this._view);
    if (phase !== undefined && shown !== null && phase !== shown) {
      void this.refresh();
    }
  }

  /** Set the requested number of workers. */
  aim(target: number): void {
    this._target = target;
    this._changed.emit();
  }

  /** Return the question about a step; null when it is not possible now. */
  question(step: Step, node: string | null = null): IStepQuestion | null {
    const view = this._view;
    return view && this.steps.has(step) ? { step, view, target: this._target, node } : null;
  }

  /** Reset the requested size. */
  dismiss(): void {
    this.aim(this._view ? workersOf(this._view.state).length : 0);
  }

  /** Perform the confirmed step. */
  perform(question: IStepQuestion): Promise<void> {
    return this._do(async () => {
      const begun = await this._begin(question);
      this.commands.add(begun, doingOf(this._trans, question));
      this.dismiss();
    });
  }

  /** Cancel the commands that the panel has started; their changes are reverted. */
  cancel(): Promise<void> {
    return this._do(async () => {
      await Promise.all(this.commands.running.map(id => this._calls.cancel(id)));
    });
  }

  dispose(): void {
    this.commands.dispose();
    this._poll.dispose();
    Signal.clearData(this);
  }

  private async _do(step: () => Promise<void>): Promise<void> {
    this._isWorking = true;
    this._note = '';
    this._problem = null;
    this._changed.emit();
    try {
      await step();
      this._performed.emit();
    } catch (reason) {
      this._problem = asServiceError(reason).message;
    } finally {
      this._isWorking = false;
      this._changed.emit();
    }
    await this.refresh();
  }

  private async _begin(question: IStepQuestion): Promise<ICommand[]> {
    const added = addedBy(question);
    switch (question.step) {
      case 'start':
        await this._calls.start(this.cluster);
        return [];
      case 'terminate':
        await this._calls.terminate(this.cluster);
        return [];
      case 'remove':
        return [await this._calls.removeNode(this.cluster, question.node)];
      case 'resize':
        return added > 0
          ? [await this._calls.addNodes(this.cluster, added)]
          : this._removeIdlest(-added);
    }
  }

  /** Commands already started are followed even if the service refuses a later removal. */
  private async _removeIdlest(count: number): Promise<ICommand[]> {
    const begun: ICommand[] = [];
    while (begun.length < count) {
      try {
        begun.push(await this._calls.removeNode(this.cluster, null));
      } catch (reason) {
        if (!begun.length) {
          throw reason;
        }
        const why = asServiceError(reason).message;
        this._note = this._trans.__('%1 of %2 removals were begun: %3', begun.length, count, why);
        break;
      }
    }
    return begun;
  }

  private async _look(): Promise<void> {
    const look = ++this._looks;
    const late = setTimeout(() => {
      this._see(look, this._trans.__('the service has not answered for %1 s', LATE / 1000));
    }, LATE);
    try {
      const found = await this._calls.look(this.cluster);
      this._see(look, null, { ...found, asOf: new Date(this.now()) });
    } catch (reason) {
      this._see(look, asServiceError(reason).message);
      throw reason;
    } finally {
      clearTimeout(late);
    }
  }

  private _see(look: number, doubt: string | null, view: IClusterView | null = null): void {
    if (look !== this._looks || this.isDisposed) {
      return;
    }
    // If the user has not changed the size, it follows the cluster's.
    if (view && (!this._view || this._target === workersOf(this._view.state).length)) {
      this._target = workersOf(view.state).length;
    }
    this._view = view ?? this._view;
    this._doubt = doubt;
    this._poll.frequency = { ...this._poll.frequency, interval: this.period };
    this._changed.emit();
  }
}
