import type { IRenderMime } from '@jupyterlab/rendermime';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { type JSX, useEffect, useRef, useState } from 'react';
import { cancelAsked } from '../commands/cancelling';
import { CommandDetailModel, type ICommandView } from '../commands/detailModel';
import { useCommandView } from '../commands/hooks';
import { Tables } from '../commands/tables';
import { TextResult } from '../commands/textResult';
import { statusWords, toneOf } from '../commands/words';
import { OPEN_COMMAND } from '../panel';
import { useSeen } from '../results';
import { useNow, VisibleContext } from '../service';
import { hasEnded, type ICommand, secondsTaken } from '../service/records/commands';
import { type IOrigin, savedStatus, STATUS_MIME } from './bundle';
import type { IOutputContext } from './outputContext';
import { factsOf, savedFacts } from './words';

/** Lines of the log below a running command. */
const LOG_LINES = 5;

/** A command whose kernel is gone: its line, its log while it runs, then its rows. */
export class FollowedOutput extends ReactWidget {
  private readonly _command: CommandDetailModel;
  private readonly _text: string;

  constructor(
    private readonly _context: IOutputContext,
    private readonly _origin: IOrigin,
    private readonly _output: IRenderMime.IMimeModel
  ) {
    super();
    this.addClass('jp-SvcFollowed');
    this._command = new CommandDetailModel(_context.requests, _origin.command, {
      textTypes: [],
      part: _origin.part
    });
    const saved = _output.data['text/plain'];
    this._text = typeof saved === 'string' ? savedFacts(saved) : '';
  }

  override dispose(): void {
    this._command.dispose();
    super.dispose();
  }

  protected override render(): JSX.Element {
    return (
      <Followed
        model={this._command}
        origin={this._origin}
        savedText={this._text}
        variable={savedStatus(this._output.data[STATUS_MIME]).name}
        save={(text, end) => this._save(text, end)}
        context={this._context}
      />
    );
  }

  /** Write how the command ended into the notebook. */
  private _save(text: string, end: { [name: string]: ReadonlyPartialJSONValue }): void {
    const before = this._output.data[STATUS_MIME] as { [name: string]: ReadonlyPartialJSONValue };
    const line = document.createElement('div');
    line.className = 'svc-status mathjax_ignore tex2jax_ignore';
    line.textContent = text;
    const status = { ...before, ...end, followed: true };
    if (JSON.stringify(status) !== JSON.stringify(before)) {
      const data = { 'text/plain': text, 'text/html': line.outerHTML, [STATUS_MIME]: status };
      this._output.setData({ data });
    }
  }
}

interface IFollowedProps {
  model: CommandDetailModel;
  origin: IOrigin;
  savedText: string;
  variable: string | null;
  save: (text: string, end: { [name: string]: ReadonlyPartialJSONValue }) => void;
  context: IOutputContext;
}

function Followed(props: IFollowedProps): JSX.Element {
  const [isSeen, setSeen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useSeen(root, () => setSeen(true));
  return (
    <div ref={root}>
      <VisibleContext.Provider value={isSeen}>
        <FollowedCommand {...props} />
      </VisibleContext.Provider>
    </div>
  );
}

function FollowedCommand(props: IFollowedProps): JSX.Element {
  const { model, origin, savedText, variable, save, context } = props;
  const { trans } = context;
  const view = useCommandView(model);
  const { command, error } = view;
  const isOther = command !== null && command.created_at !== origin.createdAt;
  const now = useNow(command !== null && !hasEnded(command));
  const text = command === null ? '' : factsOf(trans, view, now);
  const icon = command === null ? '' : statusWords(command.status, trans).icon;
  const isComplete = !isOther && isWhole(view);
  useEffect(() => {
    if (isComplete && command !== null) {
      save(`${icon} ${text}`, endOf(view));
    }
    // Once, when all is known.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isComplete]);
  if (command === null || isOther) {
    const reason = isOther
      ? trans.__('command %1 of this service is another one', origin.command)
      : error?.message;
    return (
      <div className="jp-SvcFollowed-line">
        {reason === undefined ? (
          <span>{savedText}</span>
        ) : (
          <span role="status">{trans.__('%1, as saved: %2', savedText, reason)}</span>
        )}
      </div>
    );
  }
  const { result } = view;
  const problem = error ?? view.resultError;
  return (
    <>
      <div className={`jp-SvcFollowed-line jp-SvcTone jp-mod-${toneOf(command.status)}`}>
        <span className="jp-SvcTone-icon" aria-hidden="true">
          {icon}
        </span>
        <span>
          {text}
          {problem !== null && <span role="status"> · {problem.message}</span>}
          {variable !== null && command.status === 'done' && (
            <span role="note"> · {trans.__('%1 assigns %2', '%svc_attach', variable)}</span>
          )}
        </span>
        <Links view={view} command={command} model={model} context={context} />
      </div>
      {command.status !== 'done' && command.status !== 'cancelled' && (
        <LogEnd log={view.log.text} isRunning={!hasEnded(command)} />
      )}
      {result?.kind === 'rows' && (
        <Tables command={command} result={result} rendermime={context.rendermime} trans={trans} />
      )}
      {(result?.kind === 'text' || result?.kind === 'elsewhere') && (
        <TextResult model={model} result={result} trans={trans} />
      )}
    </>
  );
}

/** The last lines of the log, while it grows in a box that keeps its height. */
function LogEnd(props: { log: string; isRunning: boolean }): JSX.Element | null {
  const text = props.log.trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  const mod = props.isRunning ? 'jp-mod-running' : '';
  return text === '' ? null : <pre className={`jp-SvcFollowed-log ${mod}`}>{text}</pre>;
}

function Links(props: {
  view: ICommandView;
  command: ICommand;
  model: CommandDetailModel;
  context: IOutputContext;
}): JSX.Element {
  const { view, command, model, context } = props;
  const { commands, trans } = context;
  const link = (words: string, open: () => unknown): JSX.Element => (
    <button type="button" className="jp-SvcResult-button" onClick={() => void open()}>
      {words}
    </button>
  );
  const show = (log: boolean) => () => commands.execute(OPEN_COMMAND, { id: command.id, log });
  return (
    <span className="svc-status-links">
      {commands.hasCommand(OPEN_COMMAND) && (
        <>
          {link(trans.__('Log'), show(true))}
          {link(trans.__('Open'), show(false))}
        </>
      )}
      {view.resultError !== null && link(trans.__('Try again'), () => model.readResult())}
      {!hasEnded(command) &&
        link(trans.__('Cancel'), () => cancelAsked(command, () => model.cancel(), trans))}
    </span>
  );
}

/** Whether nothing more is to come: it has ended, and its result was read. */
function isWhole({ command, error, result }: ICommandView): boolean {
  const ended = command !== null && hasEnded(command) && error === null;
  return ended && (command.status !== 'done' || result !== null);
}

/** Return what is saved of the end of a command, as the magics write it. */
function endOf({ command, result }: ICommandView): { [name: string]: ReadonlyPartialJSONValue } {
  const rows = result?.kind === 'rows' ? result.rows.state : null;
  return {
    status: command?.status ?? '',
    seconds: command && secondsTaken(command),
    rows: rows?.of ?? null,
    columns: rows?.columns.length ?? null
  };
}
