import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { TextButton } from './columnPanel';
import { useResult } from './hooks';
import type { ResultModel } from './model';
import { count } from '../words';
import { typeWord } from './words';

/** Names that are listed at once; the others are found by their name. */
const LISTED = 200;

/** The columns of a result, each to be shown or hidden. */
export function ColumnChooser(props: {
  model: ResultModel;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, trans } = props;
  const { columns, hidden } = useResult(model);
  const [search, setSearch] = useState('');
  const found = columns.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const shownCount = columns.length - hidden.size;
  return (
    <>
      <input
        type="search"
        className="jp-mod-styled"
        aria-label={trans.__('Find a column')}
        placeholder={trans.__('Find a column')}
        value={search}
        onChange={event => setSearch(event.target.value)}
      />
      <div className="jp-SvcResult-buttons">
        <TextButton label={trans.__('Show all')} onClick={() => model.showAll(true)} />
        <TextButton label={trans.__('Show the first only')} onClick={() => model.showAll(false)} />
      </div>
      <ul className="jp-SvcResult-columns">
        {found.slice(0, LISTED).map(({ name, type }) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked={!hidden.has(name)}
                // A grid without columns would be empty.
                disabled={!hidden.has(name) && shownCount === 1}
                onChange={event => model.show(name, event.target.checked)}
              />
              <span dir="auto">{name}</span> <small>{typeWord(trans, type)}</small>
            </label>
          </li>
        ))}
      </ul>
      {found.length > LISTED && (
        <p>{trans.__('%1 more: find them by their names.', count(found.length - LISTED))}</p>
      )}
    </>
  );
}
