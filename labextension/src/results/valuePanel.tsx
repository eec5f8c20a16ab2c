import { Clipboard } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useEffect, useRef, useState } from 'react';
import { asServiceError } from '../service';
import type { IValueAnswer } from './calls';
import { TextButton } from './columnPanel';
import type { ResultModel } from './model';
import { type IColumn, laidOut, wholeText } from './values';
import { count, cut } from '../words';
import { typeWord, valueWords } from './words';

/** Characters of a value that are shown; a page with a line of millions does not answer for seconds. */
const SHOWN_CHARACTERS = 100_000;

/** One value, whole and over several lines: at once what the page of rows has of it, then what the service has. */
export function ValuePanel(props: {
  model: ResultModel;
  row: number;
  column: IColumn;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, row, column, trans } = props;
  const [found, setFound] = useState<IValueAnswer | null>(null);
  const [problem, setProblem] = useState('');
  const [isCopied, setCopied] = useState(false);
  const reading = useRef<Promise<IValueAnswer>>();
  useEffect(() => {
    const ended = new AbortController();
    const { signal } = ended;
    reading.current = model.whole(row, column, signal);
    reading.current.then(
      answer => !signal.aborted && setFound(answer),
      (reason: unknown) => !signal.aborted && setProblem(asServiceError(reason).message)
    );
    return () => ended.abort();
  }, [model, row, column]);

  const answer = found ?? model.known(row, column);
  const isReading = found === null && problem === '';
  const rest = isReading ? 'reading' : model.state.isPaged ? 'download' : 'saved';
  const shown = laidOut(column, answer.value);
  return (
    <>
      <div className="jp-SvcResult-popoverHead">
        <b dir="auto">{column.name}</b>{' '}
        <small>
          {typeWord(trans, column.type)} · {trans.__('row %1', count(row))}
          {' · '}
          <span role="status">{valueWords(trans, answer, rest, SHOWN_CHARACTERS)}</span>
        </small>
      </div>
      <pre className="jp-SvcResult-value" dir="auto" tabIndex={0}>
        {cut(shown, SHOWN_CHARACTERS)}
      </pre>
      {problem !== '' && <p role="alert">{problem}</p>}
      <div className="jp-SvcResult-buttons">
        <TextButton
          label={isCopied ? trans.__('Copied') : trans.__('Copy value')}
          onClick={() => {
            reading.current?.then(
              ({ value }) => {
                Clipboard.copyToSystem(wholeText(value));
                setCopied(true);
              },
              () => undefined // the reason is below the value
            );
          }}
        />
      </div>
    </>
  );
}
