import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { ErrorState } from '../list';
import type { ICommandView } from './detailModel';
import { ResultGrid } from './grid';

/** The result of a finished command: rows as a grid, or a text. */
export function CommandResultView(props: {
  view: ICommandView;
  retry: () => void;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { view, retry, trans } = props;
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
        <>
          {result.table.isCut && (
            <p>
              {moreRows(command.id, result.table.rows.length, command.result_rows ?? null, trans)}
            </p>
          )}
          <ResultGrid table={result.table} label={trans.__('Result')} />
        </>
      )}
    </section>
  );
}

function moreRows(id: number, shown: number, all: number | null, trans: TranslationBundle): string {
  const line = `%svc_command ${id} result`;
  return all === null
    ? trans.__('The first %1 rows. All of them in a notebook: %2', shown.toLocaleString(), line)
    : trans.__(
        '%1 of %2 rows. All of them in a notebook: %3',
        shown.toLocaleString(),
        all.toLocaleString(),
        line
      );
}
