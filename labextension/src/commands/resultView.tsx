import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { ErrorState } from '../list';
import { ResultView } from '../results';
import type { ICommandView } from './detailModel';

/** The result of a finished command: its rows, or a text. */
export function CommandResultView(props: {
  view: ICommandView;
  retry: () => void;
  /** Draws charts of the rows. */
  rendermime: IRenderMimeRegistry | null;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { view, retry, rendermime, trans } = props;
  const { command, result, resultError } = view;
  if (resultError !== null) {
    return (
      <section className="jp-SvcResult">
        <h3>{trans.__('Result')}</h3>
        <ErrorState error={resultError} retry={retry} retryLabel={trans.__('Try again')} />
      </section>
    );
  }
  if (command === null || result === null || result.kind === 'none') {
    return null;
  }
  return (
    <section className="jp-SvcResult">
      <h3>{trans.__('Result')}</h3>
      {result.kind === 'text' ? (
        <pre tabIndex={0} aria-label={trans.__('Result')}>
          {result.text}
        </pre>
      ) : (
        <ResultView model={result.rows} rendermime={rendermime} trans={trans} />
      )}
    </section>
  );
}
