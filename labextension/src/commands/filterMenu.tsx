import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, UseSignal } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';
import type { JSX } from 'react';
import type { CommandStatus } from '../service/records/commands';
import type { CommandsModel, ICommandFilter } from './model';
import { statusWords } from './words';

const STATUSES: readonly CommandStatus[] = ['waiting', 'running', 'done', 'error', 'cancelled'];

/** The filter of the command list at the head of its section: whose commands, and of which status. */
export function FilterMenu(props: {
  model: CommandsModel;
  onChange: (filter: ICommandFilter) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, onChange, trans } = props;
  return (
    <UseSignal signal={model.filterChanged}>
      {() => (
        <button
          type="button"
          className="jp-SvcMenuButton"
          aria-haspopup="menu"
          aria-label={trans.__('Show commands: %1', filterWords(model.filter, trans))}
          title={trans.__('Which commands are shown')}
          onClick={event => {
            const { right, bottom } = event.currentTarget.getBoundingClientRect();
            openMenu(model.filter, onChange, trans, right, bottom);
          }}
        >
          {filterWords(model.filter, trans)}
          <caretDownIcon.react tag="span" width="16px" height="16px" />
        </button>
      )}
    </UseSignal>
  );
}

function filterWords({ allUsers, status }: ICommandFilter, trans: TranslationBundle): string {
  const whose = allUsers ? trans.__('everyone’s') : trans.__('own');
  return status === '' ? whose : `${whose}, ${statusWords(status, trans).word}`;
}

function openMenu(
  filter: ICommandFilter,
  onChange: (filter: ICommandFilter) => void,
  trans: TranslationBundle,
  right: number,
  top: number
): void {
  const commands = new CommandRegistry();
  const menu = new Menu({ commands });
  const add = (id: string, label: string, part: Partial<ICommandFilter>): void => {
    const wanted = { ...filter, ...part };
    commands.addCommand(id, {
      label,
      describedBy: { args: { type: 'object', properties: {} } },
      isToggled: () => wanted.allUsers === filter.allUsers && wanted.status === filter.status,
      isToggleable: true,
      execute: () => onChange(wanted)
    });
    menu.addItem({ command: id });
  };
  add('own', trans.__('Own commands'), { allUsers: false });
  add('all', trans.__('Everyone’s commands'), { allUsers: true });
  menu.addItem({ type: 'separator' });
  add('any', trans.__('Any status'), { status: '' });
  for (const status of STATUSES) {
    const { icon, word } = statusWords(status, trans);
    add(status, `${icon} ${word}`, { status });
  }
  menu.aboutToClose.connect(() => requestAnimationFrame(() => menu.dispose()));
  menu.open(right, top, { horizontalAlignment: 'right' });
}
