import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect } from '@jupyterlab/ui-components';
import { type JSX, useEffect, useRef, useState } from 'react';
import type { CommandStatus } from '../service/records/commands';
import type { ICommandFilter } from './model';
import { statusWords } from './words';

const STATUSES: readonly CommandStatus[] = ['waiting', 'running', 'done', 'error', 'cancelled'];
/** The position of a select field's arrow. */
const ARROW = { top: '6px' };
/** Milliseconds after the last key until a name is searched for. */
const TYPING_PAUSE = 300;

/** The filters of the command list: owner, status, name. */
export function FilterBar(props: {
  filter: ICommandFilter;
  onChange: (filter: ICommandFilter) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { filter, onChange, trans } = props;
  const [name, setName] = useState(filter.name);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setName(filter.name), [filter.name]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const change = (part: Partial<ICommandFilter>): void => {
    clearTimeout(timer.current);
    onChange({ ...filter, name: name.trim(), ...part });
  };
  const type = (text: string): void => {
    setName(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange({ ...filter, name: text.trim() }), TYPING_PAUSE);
  };

  return (
    <div className="jp-SvcFilter">
      <HTMLSelect
        aria-label={trans.__('Whose commands')}
        value={filter.allUsers ? 'all' : 'own'}
        options={[
          { value: 'own', label: trans.__('own') },
          { value: 'all', label: trans.__('all') }
        ]}
        iconProps={ARROW}
        onChange={event => change({ allUsers: event.target.value === 'all' })}
      />
      <HTMLSelect
        aria-label={trans.__('Status of the commands')}
        value={filter.status}
        options={[
          { value: '', label: trans.__('any status') },
          ...STATUSES.map(status => ({ value: status, label: statusWords(status, trans).word }))
        ]}
        iconProps={ARROW}
        onChange={event => change({ status: event.target.value as CommandStatus | '' })}
      />
      <input
        className="jp-mod-styled"
        type="search"
        aria-label={trans.__('Name of the commands')}
        placeholder={trans.__('name')}
        value={name}
        maxLength={255}
        onChange={event => type(event.target.value)}
      />
    </div>
  );
}
