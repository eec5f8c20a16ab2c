import type { TranslationBundle } from '@jupyterlab/translation';
import { type HTMLAttributes, type JSX, useCallback, useMemo, useState } from 'react';
import { EmptyState, ErrorState, LoadingState, TWO_LINES, TwoLines, VirtualList } from '../list';
import { useNow, useResource } from '../service';
import { hasEnded, type ICommand } from '../service/records/commands';
import { dayHeading, timesIn, timeText } from '../words';
import { type CommandsModel, type ICommandFilter, inOrder } from './model';
import {
  commandFacts,
  commandTitle,
  lastMoment,
  momentOf,
  statusWords,
  timeTaken,
  toneOf
} from './words';

/** The dependencies of the section. */
export interface ICommandsSectionProps {
  model: CommandsModel;
  trans: TranslationBundle;
  /** Open a command; as a preview, which the next one replaces. */
  open: (id: number, preview: boolean) => void;
  cancel: (command: ICommand) => void;
  /** Change the filter. */
  show: (filter: ICommandFilter) => void;
  /** Stores the selection for the next reload. */
  remember: (selected: string) => void;
  selected: string | null;
}

/** The history of commands: those under way, then the others by day; more are read as it is scrolled. */
export function CommandsSection(props: ICommandsSectionProps): JSX.Element {
  const { model, trans, remember } = props;
  const { value, error } = useResource(model.resource);
  const [selected, setSelected] = useState(props.selected);
  const commands = useMemo(() => inOrder(value ?? []), [value]);
  const now = useNow(commands.some(command => !hasEnded(command)));
  const loadMore = useCallback(() => void model.loadMore(), [model]);
  const today = now.toDateString();
  const groupOf = useCallback(
    (command: ICommand) => (hasEnded(command) ? dayOf(command, new Date(today), trans) : ''),
    [today, trans]
  );

  return (
    <>
      {error !== undefined && (
        <ErrorState
          error={error}
          retry={() => void model.resource.refresh()}
          retryLabel={trans.__('Try again')}
        />
      )}
      {value === undefined && error === undefined && (
        <LoadingState text={trans.__('Reading the commands …')} />
      )}
      {value?.length === 0 && error === undefined && <NoCommands {...props} />}
      {commands.length > 0 && (
        <VirtualList
          items={commands}
          keyOf={command => String(command.id)}
          label={trans.__('Commands')}
          rowHeight={TWO_LINES}
          groupOf={groupOf}
          render={command => <CommandRow command={command} now={now} trans={trans} />}
          actions={command => (
            <RunningSide command={command} now={now} cancel={props.cancel} trans={trans} />
          )}
          rowProps={rowProps}
          selectedKey={selected}
          onSelect={command => {
            setSelected(String(command.id));
            remember(String(command.id));
          }}
          activateOnClick
          onActivate={command => props.open(command.id, true)}
          onKeep={command => props.open(command.id, false)}
          onKey={(event, command) => {
            const wanted = event.key === 'Delete' && !hasEnded(command);
            if (wanted) {
              props.cancel(command);
            }
            return wanted;
          }}
          onNearEnd={loadMore}
        />
      )}
    </>
  );
}

function rowProps({ id }: ICommand): HTMLAttributes<HTMLDivElement> & { 'data-id': number } {
  return { 'data-id': id };
}

function dayOf(command: ICommand, now: Date, trans: TranslationBundle): string {
  return dayHeading(trans, momentOf(command.submit_time), now);
}

function CommandRow(props: {
  command: ICommand;
  now: Date;
  trans: TranslationBundle;
}): JSX.Element {
  const { command, now, trans } = props;
  const { icon, word } = statusWords(command.status, trans);
  const title = commandTitle(trans, command);
  const facts = commandFacts(command, trans);
  const isOver = hasEnded(command);
  const ended = lastMoment(command);
  // The heading above has the day.
  const side = isOver ? [timeTaken(trans, command, now), timeText(ended, ended)] : [];
  const time = timeText(ended, now, { seconds: true });
  return (
    <TwoLines
      icon={icon}
      word={word}
      tone={toneOf(command.status)}
      title={title}
      facts={facts}
      side={side}
      hover={`${title}\n${facts}\n${word} · ${time}\n${timesIn(trans)}`}
      {...(command.status === 'running' && { progress: command.progress })}
    />
  );
}

/** The end of the row of a command that has not ended: how long it takes so far, over a button that cancels it. */
function RunningSide(props: {
  command: ICommand;
  now: Date;
  cancel: (command: ICommand) => void;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { command, now, cancel, trans } = props;
  if (hasEnded(command)) {
    return null;
  }
  return (
    <div className="jp-SvcRow-side">
      <div>{timeTaken(trans, command, now)}</div>
      <button
        type="button"
        className="jp-SvcLink"
        aria-label={trans.__('Cancel command %1', command.id)}
        onClick={() => cancel(command)}
      >
        {trans.__('Cancel')}
      </button>
    </div>
  );
}

function NoCommands({ model, show, trans }: ICommandsSectionProps): JSX.Element {
  const { filter } = model;
  if (filter.search !== '') {
    return <EmptyState text={trans.__('No command has “%1”.', filter.search)} />;
  }
  if (filter.status === '') {
    return (
      <EmptyState
        text={trans.__('No commands in the last 30 days. A cell such as %%svc_shell runs one.')}
      />
    );
  }
  return (
    <EmptyState text={trans.__('No command is %1.', statusWords(filter.status, trans).word)}>
      <button
        type="button"
        className="jp-SvcButton jp-mod-small"
        onClick={() => show({ ...filter, status: '' })}
      >
        {trans.__('Show all')}
      </button>
    </EmptyState>
  );
}
