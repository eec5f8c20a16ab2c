import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { count } from '../words';
import type { CommandDetailModel, CommandResult } from './detailModel';
import { SavedWhole } from './saving';
import '../../style/commandTexts.css';

/** A result that is a text: its beginning, and all of it as a file; or where the service keeps it. */
export function TextResult(props: {
  model: CommandDetailModel;
  result: Extract<CommandResult, { kind: 'text' | 'elsewhere' }>;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, result, trans } = props;
  const label = trans.__('Result');
  if (result.kind === 'elsewhere') {
    return (
      <>
        <p>{trans.__('The result is too large to be sent. The service keeps it at:')}</p>
        <pre className="jp-SvcCommand-text" tabIndex={0} role="region" aria-label={label}>
          {result.locations.join('\n')}
        </pre>
      </>
    );
  }
  const { text, length } = result;
  return (
    <>
      <pre className="jp-SvcCommand-text" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <SavedWhole
        note={
          text.length < length
            ? trans.__('The first %1 of %2 characters.', count(text.length), count(length))
            : ''
        }
        label={trans.__('Download the result')}
        fileName={`command-${model.id}.txt`}
        read={() => model.wholeText()}
        trans={trans}
      />
    </>
  );
}
