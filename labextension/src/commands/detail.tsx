import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { consoleIcon } from '@jupyterlab/ui-components';
import {
  type JSX,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useSyncExternalStore
} from 'react';
import { LoadingState } from '../list';
import { VisibleWidget } from '../panel';
import { type ServiceRequests, useNow, VisibleContext } from '../service';
import { hasEnded, type ICommand } from '../service/records/commands';
import { cancelAsked } from './cancelling';
import { CommandDetailModel, type ICommandView } from './detailModel';
import { CommandResultView } from './resultView';
import { sourceWord, typeWord } from '../words';
import { clockTime, commandFacts, commandText, commandTitle, statusWords } from './words';

/** A command: its facts, its live log, its result, and its error as reported by the engine. */
export function CommandDetail(props: {
  model: CommandDetailModel;
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
    <div className="jp-SvcDetail">
      <header>
        <h2>{commandTitle(trans, command)}</h2>
        <p role="status">
          <span aria-hidden="true" className={`jp-SvcStatus jp-mod-${command.status}`}>
            {icon}
          </span>{' '}
          {trans.__('command %1', command.id)} · {word} · {commandFacts(command, now, trans)}
        </p>
        {!hasEnded(command) && (
          <button
            type="button"
            className="jp-Button jp-mod-styled jp-mod-warn"
            onClick={() => void cancelAsked(command, () => model.cancel(), trans)}
          >
            {trans.__('Cancel the Command')}
          </button>
        )}
      </header>
      {error !== null && <Failure text={error.message} />}
      {command.status !== 'done' && hasEnded(command) && <Failure text={command.message ?? word} />}
      <Facts command={command} now={now} trans={trans} />
      <CommandResultView view={view} retry={() => model.readResult()} trans={trans} />
      <Log view={view} trans={trans} />
    </div>
  );
}

/** Return the current view of a command, and follow it while the component is visible. */
function useCommandView(model: CommandDetailModel): ICommandView {
  const visible = useContext(VisibleContext);
  useEffect(() => {
    const { command } = model.view;
    if (!visible || (command !== null && hasEnded(command))) {
      return;
    }
    const watch = model.watch();
    return () => watch.dispose();
  }, [model, visible]);
  const subscribe = useCallback(
    (changed: () => void) => {
      model.changed.connect(changed);
      return () => void model.changed.disconnect(changed);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.view);
}

function Failure(props: { text: string }): JSX.Element {
  return (
    <pre className="jp-SvcFailure" role="alert">
      {props.text}
    </pre>
  );
}

function Facts(props: { command: ICommand; now: Date; trans: TranslationBundle }): JSX.Element {
  const { command, now, trans } = props;
  const time = (seconds: number | null): string =>
    seconds === null ? '' : clockTime(seconds, now);
  const facts: [string, string][] = [
    [trans.__('Type'), typeWord(trans, command.command_type)],
    [trans.__('Cluster'), command.label ?? ''],
    [trans.__('Submitted'), time(command.submit_time)],
    [trans.__('Started'), time(command.start_time)],
    [trans.__('Ended'), time(command.end_time)],
    [trans.__('Rows'), command.result_rows?.toLocaleString() ?? ''],
    [
      trans.__('Attempts'),
      (command.attempts?.length ?? 0) > 1 ? String(command.attempts?.length) : ''
    ],
    [trans.__('Source'), sourceWord(trans, command.command_source)]
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
        <pre className="jp-SvcText" tabIndex={0} aria-label={trans.__('What it runs')}>
          {text}
        </pre>
      )}
    </section>
  );
}

function Log(props: { view: ICommandView; trans: TranslationBundle }): JSX.Element {
  const { view, trans } = props;
  const node = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (node.current !== null && isAtEnd.current) {
      node.current.scrollTop = node.current.scrollHeight;
    }
  }, [view.log]);
  return (
    <section className="jp-SvcLog">
      <h3>{trans.__('Log')}</h3>
      {view.log.isCut && (
        <p>
          {trans.__(
            'Earlier lines are left out: %svc_command %1 logs shows all.',
            view.command?.id ?? 0
          )}
        </p>
      )}
      <pre
        ref={node}
        role="log"
        tabIndex={0}
        aria-label={trans.__('Log')}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4;
        }}
      >
        {view.log.text === '' ? emptyLog(view, trans) : view.log.text}
      </pre>
    </section>
  );
}

function emptyLog(view: ICommandView, trans: TranslationBundle): string {
  const isOver = view.command !== null && hasEnded(view.command);
  return isOver ? trans.__('The log is empty.') : trans.__('Nothing yet.');
}

/** A command in the main area. */
export class CommandDetailWidget extends MainAreaWidget<DetailContent> {
  constructor(
    requests: ServiceRequests,
    readonly commandId: number,
    trans: TranslationBundle
  ) {
    super({ content: new DetailContent(new CommandDetailModel(requests, commandId), trans) });
    this.id = `svc-jupyter-command-${commandId}`;
    this.title.label = trans.__('Command %1', commandId);
    this.title.icon = consoleIcon;
    this.title.closable = true;
  }
}

class DetailContent extends VisibleWidget {
  constructor(
    private readonly _model: CommandDetailModel,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-SvcDetailHost');
  }

  override dispose(): void {
    this._model.dispose();
    super.dispose();
  }

  protected override content(): JSX.Element {
    return <CommandDetail model={this._model} trans={this._trans} />;
  }
}
