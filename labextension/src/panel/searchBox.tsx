import type { TranslationBundle } from '@jupyterlab/translation';
import { InputGroup } from '@jupyterlab/ui-components';
import { type JSX, useEffect, useRef, useState } from 'react';

/** Milliseconds after the last key until a text is searched for. */
const TYPING_PAUSE = 300;

/** The search over all sections; Escape empties it. */
export function SearchBox(props: {
  trans: TranslationBundle;
  search: (text: string) => void;
}): JSX.Element {
  const { trans, search } = props;
  const [text, setText] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (wanted: string, pause = TYPING_PAUSE): void => {
    setText(wanted);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => search(wanted.trim().toLowerCase()), pause);
  };
  return (
    <div className="jp-SvcSearch" role="search">
      <InputGroup
        type="search"
        rightIcon="ui-components:search"
        aria-label={trans.__('Search by name, text, id or tag')}
        placeholder={trans.__('Search')}
        title={trans.__('Search by name, text, id or tag')}
        value={text}
        maxLength={255}
        onChange={event => type(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape' && text !== '') {
            event.stopPropagation();
            type('', 0);
          }
        }}
      />
    </div>
  );
}
