import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Fragment, type JSX } from 'react';
import { ResultView } from '../results';
import type { ICommand } from '../service/records/commands';
import type { CommandResult } from './detailModel';
import '../../style/commandTexts.css';

/** The tables of a command; where there are several, each under its name. */
export function Tables(props: {
  command: ICommand;
  result: Extract<CommandResult, { kind: 'rows' }>;
  rendermime: IRenderMimeRegistry | null;
  trans: TranslationBundle;
}): JSX.Element {
  const { command, result, rendermime, trans } = props;
  const all = [...result.before, result.rows];
  return (
    <>
      {all.map((model, index) => (
        <Fragment key={index}>
          {all.length > 1 && (
            <p className="jp-SvcCommand-table">{tableName(trans, command.outputs, index)}</p>
          )}
          <ResultView model={model} rendermime={rendermime} trans={trans} />
        </Fragment>
      ))}
    </>
  );
}

/** Return the name of a table, as the cell says it: `DUMP late`, or `Table 2 · Delays by carrier`. */
export function tableName(
  trans: TranslationBundle,
  outputs: ICommand['outputs'],
  index: number
): string {
  const dump = outputs?.dumps?.[index];
  if (dump !== undefined) {
    return trans.__('DUMP %1', dump.alias);
  }
  const title = outputs?.tables?.[index]?.title ?? '';
  return [trans.__('Table %1', index + 1), title].filter(Boolean).join(' · ');
}
