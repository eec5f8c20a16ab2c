import type { TranslationBundle } from '@jupyterlab/translation';
import { stopIcon } from '@jupyterlab/ui-components';
import { type JSX, useCallback, useState } from 'react';
import { EmptyState, ErrorState, LoadingState, VirtualList } from '../list';
import { useNow, useResource } from '../service';
import { hasEnded, type ICommand } from '../service/records/commands';
import { FilterBar } from './filterBar';
import { CommandsModel, type ICommandFilter, NO_FILTER } from './model';
import { commandFacts, commandTitle, statusWords } from './words';

/** The dependencies of the section. */
export interface ICommandsSectionProps {
  model: CommandsModel;
  trans: TranslationBundle;
  open: (id: number) => void;
  cancel: (command: ICommand) => void;
  /** Stores the selection and the filter for the next reload. */
  remember: (memory: { filter: ICommandFilter; selected: string | null }) => void;
  selected: string | null;
}

/** The history of commands: a filter and a list that loads more as it is scrolled. */
export function CommandsSection(props: ICommandsSectionProps): JSX.Element {
  const { model, trans, remember } = props;
  const { value, error } = useResource(model.resource);
  const [selected, setSelected] = useState(props.selected);
  const [filter, setFilter] = useState(model.filter);
  const commands = value ?? [];
  const now = useNow(commands.some(command => !hasEnded(command)));
  const loadMore = useCallback(() => void model.loadMore(), [model]);

  const changeFilter = (wanted: ICommandFilter): void => {
    model.filter = wanted;
    setFilter(wanted);
    remember({ filter: wanted, selected });
  };
  const select = (command: ICommand): void => {
    setSelected(String(command.id));
    remember({ filter, selected: String(command.id) });
  };

  return (
    <div className="jp-SvcCommands">
      <FilterBar filter={filter} onChange={changeFilter} trans={trans} />
      {error !== undefined && (
        <ErrorState
          error={error}
          retry={() => void model.resource.refresh()}
          retryLabel={trans.__('Try Again')}
        />
      )}
      {value === undefined && error === undefined && (
        <LoadingState text={trans.__('Reading the commands …')} />
      )}
      {value?.length === 0 && error === undefined && (
        <NoCommands filter={filter} clear={changeFilter} trans={trans} />
      )}
      {commands.length > 0 && (
        <VirtualList
          items={commands}
          keyOf={command => String(command.id)}
          label={trans.__('Commands')}
          render={command => <CommandRow command={command} now={now} trans={trans} />}
          actions={command => (
            <CancelButton command={command} cancel={props.cancel} trans={trans} />
          )}
          selectedKey={selected}
          onSelect={select}
          onActivate={command => props.open(command.id)}
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
    </div>
  );
}

function CommandRow(props: {
  command: ICommand;
  now: Date;
  trans: TranslationBundle;
}): JSX.Element {
  const { command, now, trans } = props;
  const { icon, word } = statusWords(command.status, trans);
  const facts = commandFacts(command, now, trans);
  return (
    <span title={`${commandTitle(trans, command)}\n${word} · ${facts}`}>
      <span role="img" aria-label={word} className={`jp-SvcStatus jp-mod-${command.status}`}>
        {icon}
      </span>{' '}
      {command.id} {commandTitle(trans, command)} <span className="jp-SvcList-facts">{facts}</span>
    </span>
  );
}

function CancelButton(props: {
  command: ICommand;
  cancel: (command: ICommand) => void;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { command, cancel, trans } = props;
  if (hasEnded(command)) {
    return null;
  }
  const words = trans.__('Cancel command %1', command.id);
  return (
    <button
      type="button"
      className="jp-SvcIconButton"
      title={words}
      aria-label={words}
      onClick={() => cancel(command)}
    >
      <stopIcon.react tag="span" height="16px" width="16px" />
    </button>
  );
}

function NoCommands(props: {
  filter: ICommandFilter;
  clear: (filter: ICommandFilter) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { filter, clear, trans } = props;
  if (filter.status === '' && filter.name === '') {
    return (
      <EmptyState
        text={trans.__('No commands in the last 30 days. A cell such as %%svc_shell runs one.')}
      />
    );
  }
  return (
    <EmptyState text={trans.__('No command is like this.')}>
      <button
        type="button"
        className="jp-Button jp-mod-styled jp-mod-minimal"
        onClick={() => clear({ ...NO_FILTER, allUsers: filter.allUsers })}
      >
        {trans.__('Show All')}
      </button>
    </EmptyState>
  );
}
