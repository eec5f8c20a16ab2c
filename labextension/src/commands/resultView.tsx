import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { ErrorState } from '../list';
import type { CommandDetailModel, ICommandView } from './detailModel';
import { Tables } from './tables';
import { TextResult } from './textResult';

/** The result of a finished command: its rows, or a text. */
export function CommandResultView(props: {
  model: CommandDetailModel;
  view: ICommandView;
  /** Draws charts of the rows. */
  rendermime: IRenderMimeRegistry | null;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { model, view, rendermime, trans } = props;
  const { command, result, resultError } = view;
  const shown = (): JSX.Element | null => {
    if (resultError !== null) {
      const retry = (): void => model.readResult();
      return <ErrorState error={resultError} retry={retry} retryLabel={trans.__('Try again')} />;
    }
    switch (result?.kind) {
      case 'rows':
        return (
          command && (
            <Tables command={command} result={result} rendermime={rendermime} trans={trans} />
          )
        );
      case 'text':
      case 'elsewhere':
        return <TextResult model={model} result={result} trans={trans} />;
      default:
        return null;
    }
  };
  const content = shown();
  return content === null ? null : (
    <section className="jp-SvcResult">
      <h3>{trans.__('Result')}</h3>
      {content}
    </section>
  );
}
