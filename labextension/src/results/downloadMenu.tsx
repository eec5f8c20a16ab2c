import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { count } from '../words';
import { FILE_FORMATS, type FileFormat } from './calls';

/** The forms in which a result can be saved, each with what it keeps. */
export function DownloadMenu(props: {
  rows: number;
  save: (format: FileFormat) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { rows, save, trans } = props;
  const kept: Readonly<Record<FileFormat, string>> = {
    CSV: trans.__('text, for any program'),
    Parquet: trans.__('with types, compressed'),
    Arrow: trans.__('with types, a stream')
  };
  return (
    <>
      <p className="jp-SvcResult-popoverHead">
        <small>{trans.__('The whole result, without filters: %1 rows', count(rows))}</small>
      </p>
      <ul className="jp-SvcResult-formats">
        {(Object.keys(FILE_FORMATS) as FileFormat[]).map(format => (
          <li key={format}>
            <button type="button" className="jp-SvcResult-button" onClick={() => save(format)}>
              {format}
            </button>
            <small>{kept[format]}</small>
          </li>
        ))}
      </ul>
    </>
  );
}
