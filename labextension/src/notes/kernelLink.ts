import type { ISessionContext } from '@jupyterlab/apputils';
import { CommsOverSubshells, type Kernel, type KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { FormValue } from './formValues';

/** The comm target and the metadata key of the kernel Spark (svc): see `spark_kernel/front_end.py`. */
const TARGET = 'svc_jupyter.notes';
const KEY = 'svc_jupyter';
/** The name of the kernel Spark (svc). */
const SPARK = 'svc-spark';
/** In these states the kernel is a new process, which knows nothing of what was said. */
const FRESH: readonly Kernel.Status[] = ['starting', 'restarting', 'autorestarting'];

/** What is said to the kernel, for the next cells. */
export interface IToKernel {
  forms?: Record<string, FormValue>;
  passwords?: string[];
  cluster?: string;
}

/** What the reply to a cell tells; `sent` is when the cell was sent, in milliseconds. */
export interface IFromKernel {
  cluster?: string;
  forms?: Record<string, string>;
  sent: number;
}

/** The conversation with the kernel of one notebook, beside its cells. */
export class KernelLink implements IDisposable {
  private readonly _told = new Signal<this, IFromKernel>(this);
  private readonly _renewed = new Signal<this, void>(this);
  private _kernel: Kernel.IKernelConnection | null = null;
  private _comm: Kernel.IComm | null = null;

  constructor(private readonly _session: ISessionContext) {
    _session.kernelChanged.connect(this._follow, this);
    _session.statusChanged.connect(this._onStatus, this);
    this._follow();
  }

  /** Emitted with what the reply to a cell tells. */
  get told(): ISignal<this, IFromKernel> {
    return this._told;
  }

  /** Emitted when the kernel is another one, or a new process. */
  get renewed(): ISignal<this, void> {
    return this._renewed;
  }

  /** Whether the kernel is Spark (svc); before there is one, whether it will be. */
  get isSpark(): boolean {
    const wanted = this._session.kernelPreference.name;
    return (this._session.session?.kernel?.name ?? wanted) === SPARK;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._kernel?.anyMessage.disconnect(this._onMessage, this);
      this._session.kernelChanged.disconnect(this._follow, this);
      this._session.statusChanged.disconnect(this._onStatus, this);
      Signal.clearData(this);
    }
  }

  /**
   * Say something that the cells sent from now on find. Return whether there is a kernel to take it.
   *
   * It is not sent to a subshell: there it could be late for the next cell.
   */
  say(message: IToKernel): boolean {
    const kernel = this._kernel;
    if (!this.isSpark || kernel?.handleComms !== true || kernel.status === 'dead') {
      return false;
    }
    const data = message as unknown as JSONObject;
    if (this._comm === null || this._comm.isDisposed) {
      this._comm = kernel.createComm(TARGET);
      this._comm.commsOverSubshells = CommsOverSubshells.Disabled;
      this._comm.open(data);
    } else {
      this._comm.send(data);
    }
    return true;
  }

  private _follow(): void {
    this._kernel?.anyMessage.disconnect(this._onMessage, this);
    this._kernel = this._session.session?.kernel ?? null;
    this._kernel?.anyMessage.connect(this._onMessage, this);
    this._forget();
  }

  private _onStatus(_: ISessionContext, status: Kernel.Status): void {
    if (FRESH.includes(status)) {
      this._forget();
    }
  }

  private _forget(): void {
    const comm = this._comm;
    this._comm = null;
    if (comm && !comm.isDisposed) {
      comm.dispose();
    }
    this._renewed.emit();
  }

  private _onMessage(
    _: Kernel.IKernelConnection,
    { msg, direction }: Kernel.IAnyMessageArgs
  ): void {
    if (direction !== 'recv' || msg.header.msg_type !== 'execute_reply') {
      return;
    }
    const reply = msg as KernelMessage.IExecuteReplyMsg;
    const said = reply.metadata[KEY] as Omit<IFromKernel, 'sent'> | undefined;
    if (said !== undefined) {
      this._told.emit({ ...said, sent: Date.parse(reply.parent_header.date) });
    }
  }

  private _isDisposed = false;
}
