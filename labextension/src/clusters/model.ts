import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError } from '../service';
import type { ICommand } from '../service/records/commands';
import type { ClusterCalls } from './calls';
import { FollowedCommands } from './followed';
import {
  addedBy,
  doingOf,
  type IQuestion,
  obstacleTo,
  obstacleToRemoval,
  possibleSteps,
  type Step
} from './steps';
import { type IClusterView, isMoving, phaseOf, workersOf } from './view';

/** How often a panel that is seen looks again, in milliseconds: while something is under way, and otherwise. */
export const BUSY_PERIOD = 1_000;
export const CALM_PERIOD = 5_000;
/** How long the service may take to answer a look, in milliseconds, before what is shown is called unknown. */
const LATE = 4_000;
const LONGEST_PERIOD = 60_000;

/** The state of one cluster's panel: what it shows, and what it does. */
export class ClusterModel implements IDisposable {
  private readonly _poll: Poll;
  private readonly _changed = new Signal<this, void>(this);
  private _view: IClusterView | null = null;
  private _target = 0;
  private _problem: string | null = null;
  private _doubt: string | null = null;
  private _note = '';
  private _isWorking = false;
  private _isShown = false;
  /** Of two looks under way at once the later one counts. */
  private _looks = 0;

  /** `now` returns milliseconds of the Unix time. */
  constructor(
    readonly cluster: number,
    private readonly _calls: ClusterCalls,
    private readonly _trans: TranslationBundle,
    readonly now: () => number = Date.now
  ) {
    this.commands = new FollowedCommands(id => _calls.follow(id), _trans, now);
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

  /** The commands that this panel has begun. */
  readonly commands: FollowedCommands;

  /** Emitted after each change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What was seen last; null before the first look. */
  get view(): IClusterView | null {
    return this._view;
  }

  /** How many workers the cluster is to have; nothing is done before a step. */
  get target(): number {
    return this._target;
  }

  /** The service's words on what it refused, or null. */
  get problem(): string | null {
    return this._problem;
  }

  /** Why what `view` shows may no longer be true; null when it is as fresh as can be. */
  get doubt(): string | null {
    return this._doubt;
  }

  /** What more there is to say of the last step. */
  get note(): string {
    return this._note;
  }

  /** Whether a step is under way. */
  get isWorking(): boolean {
    return this._isWorking;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  /** What can be done just now: nothing while a step is under way or nothing is known. */
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

  /** Why the cluster cannot get as many workers as are asked for. */
  get obstacle(): string | null {
    return this._view && obstacleTo(this._trans, this._view, this._target);
  }

  /** Milliseconds between two looks. */
  get period(): number {
    const moves = this._view !== null && isMoving(phaseOf(this._view));
    return moves || this.commands.running.length > 0 ? BUSY_PERIOD : CALM_PERIOD;
  }

  /** Say whether anybody sees the panel: only then is the service asked. */
  show(isShown: boolean): void {
    this._isShown = isShown;
    this.commands.show(isShown);
    if (isShown) {
      void this._poll.refresh();
    } else if (!this.isDisposed) {
      void this._poll.stop();
    }
  }

  /** Look again now. Resolves when that is done, or could not be: `doubt` tells. */
  async refresh(): Promise<void> {
    if (!this.isDisposed && this._isShown) {
      await this._poll.refresh();
      await this._poll.tick.catch(() => undefined);
    }
  }

  /** Say how many workers the cluster is to have. */
  aim(target: number): void {
    this._target = target;
    this._changed.emit();
  }

  /** Return the question about a step; null when it cannot be done now. */
  question(step: Step, node: string | null = null): IQuestion | null {
    const view = this._view;
    return view && this.steps.has(step) ? { step, view, target: this._target, node } : null;
  }

  /** Take back the size that nobody wants any more. */
  dismiss(): void {
    this.aim(this._view ? workersOf(this._view.state).length : 0);
  }

  /** Do what was asked about and confirmed. */
  perform(question: IQuestion): Promise<void> {
    return this._do(async () => {
      const begun = await this._begin(question);
      this.commands.add(begun, doingOf(this._trans, question));
      this.dismiss();
    });
  }

  /** Cancel the commands that the panel has begun: what they have done is taken back. */
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
    } catch (reason) {
      this._problem = asServiceError(reason).message;
    } finally {
      this._isWorking = false;
      this._changed.emit();
    }
    await this.refresh();
  }

  private async _begin(question: IQuestion): Promise<ICommand[]> {
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

  /** What was begun is followed also when the service refuses one of the later removals. */
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
    // A size that nobody has asked for follows the cluster's.
    if (view && (!this._view || this._target === workersOf(this._view.state).length)) {
      this._target = workersOf(view.state).length;
    }
    this._view = view ?? this._view;
    this._doubt = doubt;
    this._poll.frequency = { ...this._poll.frequency, interval: this.period };
    this._changed.emit();
  }
}
