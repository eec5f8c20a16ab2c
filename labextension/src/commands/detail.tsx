import { MainAreaWidget } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import { consoleIcon } from '@jupyterlab/ui-components';
import { type JSX, useEffect, useRef, useState } from 'react';
import { LoadingState } from '../list';
import { VisibleWidget } from '../panel';
import { type ServiceRequests, useNow } from '../service';
import { hasEnded, type ICommand } from '../service/records/commands';
import type { ITap } from '../service/records/data';
import { Attempts } from './attempts';
import { cancelAsked } from './cancelling';
import { CommandLog } from './commandLog';
import { CommandDetailModel } from './detailModel';
import { useCommandView } from './hooks';
import { CommandResultView } from './resultView';
import { count, sourceWords, tapTypeWord, timeText, typeWord } from '../words';
import { ownZone } from '../zones';
import { asCell, languageOf } from './asCell';
import type { ICommandSteps } from './steps';
import {
  bindingsText,
  commandText,
  commandTitle,
  momentOf,
  statusWords,
  timeTaken,
  timeWaited,
  toneOf
} from './words';
import '../../style/commandDetail.css';

/** A command: its facts, its live log, its result, and its error as reported by the engine. */
export function CommandDetail(props: {
  model: CommandDetailModel;
  steps: ICommandSteps;
  rendermime: IRenderMimeRegistry | null;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, trans } = props;
  const view = useCommandView(model);
  const { command, error } = view;
  const now = useNow(command !== null && !hasEnded(command));
  if (command === null) {
    return error === null ? (
      <LoadingState text={trans.__('Reading the command …')} />
    ) : (
      <Failure text={error.message} />
    );
  }
  const { icon, word } = statusWords(command.status, trans);
  return (
    <div className="jp-SvcCommand">
      <div className="jp-SvcCommand-head">
        <h2>{commandTitle(trans, command)}</h2>
        <span role="status" className={`jp-SvcChip jp-SvcTone jp-mod-${toneOf(command.status)}`}>
          <span className="jp-SvcTone-icon" aria-hidden="true">
            {icon}
          </span>{' '}
          {[word, timeTaken(trans, command, now)].filter(Boolean).join(' · ')}
        </span>
        <span className="jp-SvcMuted">{trans.__('command %1', command.id)}</span>
        <span className="jp-SvcCommand-space" />
        <Steps command={command} model={model} steps={props.steps} trans={trans} />
      </div>
      {error !== null && <Failure text={error.message} />}
      {command.status !== 'done' && hasEnded(command) && <Failure text={command.message ?? word} />}
      <Facts model={model} command={command} now={now} steps={props.steps} trans={trans} />
      <Attempts command={command} now={now} trans={trans} />
      <CommandResultView model={model} view={view} rendermime={props.rendermime} trans={trans} />
      <CommandLog model={model} view={view} title={trans.__('Log')} trans={trans} />
    </div>
  );
}

function Failure(props: { text: string }): JSX.Element {
  return (
    <pre className="jp-SvcFailure" role="alert">
      {props.text}
    </pre>
  );
}

/** What can be done with a command: cancel it, or while it is not running run it again; copy its text, insert it as a cell. */
function Steps(props: {
  command: ICommand;
  model: CommandDetailModel;
  steps: ICommandSteps;
  trans: TranslationBundle;
}): JSX.Element {
  const { command, model, steps, trans } = props;
  const cell = asCell(command);
  const text = commandText(command);
  const insert = steps.insertion();
  return (
    <span className="jp-SvcCommand-steps">
      {cell !== null && hasEnded(command) && (
        <StepButton label={trans.__('Run again')} go={() => steps.runAgain(command)} />
      )}
      {text !== '' && <StepButton label={trans.__('Copy')} go={() => steps.copy(text)} />}
      {cell !== null && (
        <StepButton
          label={trans.__('Insert as a cell')}
          whyNot={insert === null ? trans.__('Open a notebook first') : null}
          go={() => insert?.(cell)}
        />
      )}
      {!hasEnded(command) && (
        <button
          type="button"
          className="jp-SvcButton jp-mod-warn"
          onClick={() => void cancelAsked(command, () => model.cancel(), trans)}
        >
          {trans.__('Cancel the command…')}
        </button>
      )}
    </span>
  );
}

function StepButton(props: { label: string; whyNot?: string | null; go: () => void }): JSX.Element {
  const { label, whyNot = null, go } = props;
  return (
    <button
      type="button"
      className="jp-SvcButton"
      disabled={whyNot !== null}
      title={whyNot ?? undefined}
      onClick={go}
    >
      {label}
    </button>
  );
}

function Facts(props: {
  model: CommandDetailModel;
  command: ICommand;
  now: Date;
  steps: ICommandSteps;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, command, now, steps, trans } = props;
  const tap = useTap(model, command);
  const { submit_time: submitted, start_time: start } = command;
  const time = (seconds: number | null): string =>
    seconds === null ? '' : timeText(momentOf(seconds), now, { seconds: true });
  const rows = command.result_rows;
  const facts: [string, string][] = [
    [trans.__('Type'), typeWord(trans, command.command_type)],
    [trans.__('Tap'), tap === null ? '' : `${tap.name} (${tapTypeWord(trans, tap.db_type)})`],
    [trans.__('Cluster'), command.label ?? ''],
    [trans.__('Submitted'), time(submitted)],
    [trans.__('Waited'), timeWaited(trans, command)],
    [trans.__('Started'), time(start)],
    [trans.__('Ended'), time(command.end_time)],
    [trans.__('Times in'), ownZone()],
    [trans.__('Rows'), typeof rows === 'number' ? count(rows) : ''],
    [trans.__('Source'), sourceWords(trans, command.command_source, command.notebook)],
    [trans.__('Values'), bindingsText(command)],
    [
      trans.__('Rows asked for'),
      typeof command.command.limit === 'number' ? count(command.command.limit) : ''
    ],
    [
      trans.__('Dry run'),
      command.command.dry_run === true ? trans.__('the plan only, nothing was run') : ''
    ]
  ];
  const text = commandText(command);
  return (
    <section aria-label={trans.__('Facts')}>
      <dl className="jp-SvcFacts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {text !== '' && (
        <Text
          text={text}
          language={languageOf(command)}
          highlight={steps.highlight}
          label={trans.__('What it runs')}
        />
      )}
    </section>
  );
}

/** Return the tap of a query, an import or an export, once it was read; null also for one that was removed. */
function useTap(model: CommandDetailModel, { command }: ICommand): ITap | null {
  const [tap, setTap] = useState<ITap | null>(null);
  const id = Number(command.db_tap_id ?? command.dbtap_id ?? 0);
  useEffect(() => {
    if (id > 0) {
      model.tap(id).then(setTap, () => undefined);
    }
  }, [model, id]);
  return tap;
}

/** A text, highlighted as soon as its language is loaded. */
function Text(props: {
  text: string;
  language: string | null;
  highlight: ICommandSteps['highlight'];
  label: string;
}): JSX.Element {
  const { text, language, highlight, label } = props;
  const node = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const host = node.current;
    if (host === null) {
      return;
    }
    host.textContent = text;
    if (language !== null) {
      const coloured = document.createElement('pre');
      void highlight(text, language, coloured).then(isDone => {
        if (isDone && node.current === host) {
          host.replaceChildren(...coloured.childNodes);
        }
      });
    }
  }, [text, language, highlight]);
  return <pre ref={node} className="jp-SvcText" tabIndex={0} role="region" aria-label={label} />;
}

/** A command in the main area. */
export class CommandDetailWidget extends MainAreaWidget<DetailContent> {
  constructor(
    requests: ServiceRequests,
    readonly commandId: number,
    steps: ICommandSteps,
    rendermime: IRenderMimeRegistry | null,
    trans: TranslationBundle,
    listed?: ICommand
  ) {
    const model = new CommandDetailModel(requests, commandId);
    super({ content: new DetailContent(model, steps, rendermime, trans) });
    this.toolbar.hide();
    this.title.label = trans.__('Command %1', commandId);
    this.title.icon = consoleIcon;
    this.title.closable = true;
    const entitle = (command: ICommand | null | undefined): void => {
      if (command) {
        const title = commandTitle(trans, command);
        this.title.label = `${commandId} ${title}`;
        this.title.caption = trans.__('Command %1: %2', commandId, title);
      }
    };
    // The record is read once the view is visible, and the next view may cover it before.
    entitle(listed);
    model.changed.connect(({ view: { command } }) => entitle(command));
  }

  /** Bring the log into view. */
  showLog(): void {
    this.content.showLog();
  }
}

class DetailContent extends VisibleWidget {
  constructor(
    private readonly _model: CommandDetailModel,
    private readonly _steps: ICommandSteps,
    private readonly _rendermime: IRenderMimeRegistry | null,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-SvcDetailHost');
  }

  override dispose(): void {
    this._model.dispose();
    super.dispose();
  }

  /** Bring the log into view, once the result above it is there: it would move the log away. */
  showLog(): void {
    const { command, result, resultError } = this._model.view;
    if (command === null || (command.status === 'done' && !result && !resultError)) {
      this._model.changed.connect(this._showLogLater, this);
      return;
    }
    requestAnimationFrame(() => {
      const log = this.node.querySelector<HTMLElement>('[role="log"]');
      log?.focus({ preventScroll: true });
      log?.scrollIntoView({ block: 'end' });
    });
  }

  private _showLogLater(): void {
    this._model.changed.disconnect(this._showLogLater, this);
    this.showLog();
  }

  protected override content(): JSX.Element {
    return (
      <CommandDetail
        model={this._model}
        steps={this._steps}
        rendermime={this._rendermime}
        trans={this._trans}
      />
    );
  }
}
