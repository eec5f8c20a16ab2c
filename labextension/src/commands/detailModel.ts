import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import {
  asServiceError,
  CommandFollower,
  logLength,
  type ServiceError,
  type ServiceRequests
} from '../service';
import type { ICommand, IResults } from '../service/records/commands';
import type { ITap } from '../service/records/data';
import { appended, EMPTY_LOG, type ILogTail } from './logBuffer';
import { type IPart, isUnsupported, ResultCalls, ResultModel } from '../results';
import { firstRows } from './rows';

/** The kinds of result of a command. */
export type CommandResult =
  /** Its last table, and those before it. */
  | { kind: 'rows'; rows: ResultModel; before: readonly ResultModel[] }
  /** Its beginning, and how many characters it has. */
  | { kind: 'text'; text: string; length: number }
  /** Too large to be sent: where the service keeps it. */
  | { kind: 'elsewhere'; locations: readonly string[] }
  | { kind: 'none' };

/** What is known of the command. */
export interface ICommandView {
  readonly command: ICommand | null;
  /** Why it cannot be followed at present. */
  readonly error: ServiceError | null;
  readonly log: ILogTail;
  /** Whether the command has ended and its log has been read to the end. */
  readonly isLogRead: boolean;
  /** Why it has no log any more. */
  readonly logError: ServiceError | null;
  /** Rows of the result so far, if the service reports them. */
  readonly rowsSoFar: number | null;
  /** Once it is done. */
  readonly result: CommandResult | null;
  readonly resultError: ServiceError | null;
}

/** What is known before the first answer. */
export const NOTHING_YET: ICommandView = {
  command: null,
  error: null,
  log: EMPTY_LOG,
  isLogRead: false,
  logError: null,
  rowsSoFar: null,
  result: null,
  resultError: null
};

/** Types whose result is a text; in a cell it is rows, one per line. */
const TEXT_RESULTS = [
  'ShellCommand',
  'JupyterNotebookCommand',
  'AddNodeCommand',
  'RemoveNodeCommand',
  'HadoopCommand'
];
/** Maximum number of characters shown of a text result. */
const SHOWN_TEXT = 200_000;
/** Milliseconds between two changes of the shown log: more would keep the page busy. */
const LOG_PAUSE = 100;
/** Maximum number of bytes of a log that are read at first; as many characters are kept. */
const READ_BYTES = 400_000;

/** Options of a command's model. */
export interface ICommandOptions {
  /** Types whose result is shown as a text, not as rows. */
  textTypes?: readonly string[];
  /** Which of its tables is shown alone; all of them by default. */
  part?: IPart;
  /** Whether to read the result once it is done. */
  withResult?: boolean;
}

/** One command with its log and its result, followed while it is watched. */
export class CommandDetailModel implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _end = new AbortController();
  private _follower: CommandFollower | null = null;
  private _view = NOTHING_YET;

  constructor(
    private readonly _requests: ServiceRequests,
    readonly id: number,
    private readonly _options: ICommandOptions = {}
  ) {}

  /** Emitted at every change of `view`. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The current view; a new object after each change. */
  get view(): ICommandView {
    return this._view;
  }

  get isDisposed(): boolean {
    return this._end.signal.aborted;
  }

  /** Follow the command until the returned watch is disposed; a finished one is read once. */
  watch(): IDisposable {
    let follower: CommandFollower | null = null;
    const watch = new DisposableDelegate(() => follower?.dispose());
    void this._lastPart().then(from => {
      if (!watch.isDisposed && !this.isDisposed) {
        follower = this._follow(from);
      }
    });
    return watch;
  }

  /** Cancel it. Returns the service's answer. */
  async cancel(): Promise<string> {
    const answer = await this._requests.put<{ result: string }>(`commands/${this.id}`, {
      status: 'kill'
    });
    return answer.result;
  }

  /** Read the result again after a failure. */
  readResult(): void {
    this._become({ resultError: null });
    this._readResult();
  }

  /** Return a tap of the service. */
  tap(id: number): Promise<ITap> {
    return this._requests.get(`db_taps/${id}`, {}, this._end.signal);
  }

  /** Return the whole log, as far as it is written. */
  async wholeLog(): Promise<Blob> {
    return (await this._requests.send('GET', `commands/${this.id}/logs`)).blob();
  }

  /** Return the whole text of the result. */
  async wholeText(): Promise<Blob> {
    const { results } = await this._text();
    return new Blob([unixLines(results ?? '')], { type: 'text/plain' });
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._end.abort();
      this._follower?.dispose();
      if (this._view.result?.kind === 'rows') {
        const { rows, before } = this._view.result;
        [...before, rows].forEach(table => table.dispose());
      }
      Signal.clearData(this);
    }
  }

  private _follow(from: number): CommandFollower {
    const follower = new CommandFollower(this._requests, this.id, { withLog: true, logFrom: from });
    this._follower = follower;
    let log: ILogTail = { text: '', isCut: from > 0 };
    let showing: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      showing = undefined;
      this._become({ log });
    };
    void follower.finished.then(() => {
      clearTimeout(showing);
      if (!follower.isDisposed) {
        this._become({ log, isLogRead: follower.error === null });
      }
    });
    follower.logged.connect((_, part) => {
      // The first part may begin within a line.
      const text = log.text === '' && log.isCut ? part.slice(part.indexOf('\n') + 1) : part;
      log = appended(log, text);
      showing ??= setTimeout(show, LOG_PAUSE);
    });
    follower.skipped.connect(() => {
      log = { text: '', isCut: true };
    });
    follower.changed.connect(() => {
      this._become({
        command: follower.command ?? this._view.command,
        error: follower.error,
        rowsSoFar: follower.rows
      });
      this._readResult();
    });
    return follower;
  }

  /** Return the byte offset to read the log from: 0 unless it is long. */
  private async _lastPart(): Promise<number> {
    try {
      const length = await logLength(this._requests, this.id, this._end.signal);
      return Math.max(0, length - READ_BYTES);
    } catch (reason) {
      // Following it reports the other errors.
      const error = asServiceError(reason);
      this._become({ logError: error.status === 404 ? error : null });
      return 0;
    }
  }

  private _readResult(): void {
    const { command, result, resultError } = this._view;
    if (
      this._options.withResult === false ||
      command?.status !== 'done' ||
      result !== null ||
      resultError !== null ||
      this._isReadingResult
    ) {
      return;
    }
    this._isReadingResult = true;
    void this._result(command)
      .then(
        found => this._become({ result: found }),
        (reason: unknown) => this._become({ resultError: asServiceError(reason) })
      )
      .finally(() => {
        this._isReadingResult = false;
      });
  }

  private async _result(command: ICommand): Promise<CommandResult> {
    const signal = this._end.signal;
    const isText = (this._options.textTypes ?? TEXT_RESULTS).includes(command.command_type);
    let rows = isText ? null : await this._rows(command, signal);
    if (rows !== null) {
      return { kind: 'rows', rows, before: this._tablesBefore(command) };
    }
    const { inline, results, result_location: locations } = await this._text(signal);
    if (!inline) {
      // A text that is too large for one answer can be read in parts, as rows of one column.
      rows = isText ? await this._rows(command, signal) : null;
      return rows === null
        ? { kind: 'elsewhere', locations: locations ?? [] }
        : { kind: 'rows', rows, before: [] };
    }
    const text = unixLines(results ?? '');
    return text === ''
      ? { kind: 'none' }
      : { kind: 'text', text: beginning(text), length: text.length };
  }

  private _text(signal?: AbortSignal): Promise<IResults> {
    const path = `commands/${this.id}/results`;
    return this._requests.get<IResults>(path, { include_headers: true }, signal);
  }

  /** Return the rows of the result; null when it is a text. */
  private async _rows(command: ICommand, signal: AbortSignal): Promise<ResultModel | null> {
    const calls = new ResultCalls(this._requests, this.id, this._options.part);
    try {
      return new ResultModel(calls, { first: await calls.first(signal) });
    } catch (reason) {
      const error = asServiceError(reason);
      if (signal.aborted || !isUnsupported(error)) {
        throw reason;
      }
      const table = await firstRows(this._requests, this.id, signal);
      if (table === null) {
        return null;
      }
      const { columns, rows, isCut } = table;
      const total = isCut ? (command.result_rows ?? rows.length + 1) : rows.length;
      const saved = { columns: columns.map(name => ({ name, type: 'text' })), rows, total };
      return new ResultModel(calls, { saved, problem: error });
    }
  }

  /** The tables before the last one, which are read when they are seen. */
  private _tablesBefore({ outputs }: ICommand): ResultModel[] {
    if (Object.keys(this._options.part ?? {}).length > 0) {
      return [];
    }
    const model = (part: IPart, total: number): ResultModel =>
      new ResultModel(new ResultCalls(this._requests, this.id, part), {
        saved: { columns: [], rows: [], total }
      });
    const { dumps = [], tables = [] } = outputs ?? {};
    return [
      ...dumps.slice(0, -1).map(({ rows }, index) => model({ dump: index + 1 }, rows)),
      ...tables.slice(0, -1).map(({ rows }, index) => model({ table: index + 1 }, rows))
    ];
  }

  private _become(part: Partial<ICommandView>): void {
    if (!this.isDisposed) {
      this._view = { ...this._view, ...part };
      this._changed.emit();
    }
  }

  private _isReadingResult = false;
}

/** Return a text with line ends as programs write them: a service ends each line with CR LF. */
function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Return what is shown of a text: whole lines, if it has any. */
function beginning(text: string): string {
  if (text.length <= SHOWN_TEXT) {
    return text;
  }
  const end = text.lastIndexOf('\n', SHOWN_TEXT - 1) + 1;
  return text.slice(0, end === 0 ? SHOWN_TEXT : end);
}
