import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { saveFile } from '../results';
import { asServiceError } from '../service';
import '../../style/commandTexts.css';

/** Above or below a text of a command: what of it is left out, and a button that saves all of it as a file. */
export function SavedWhole(props: {
  /** What is left out; empty if nothing is. */
  note: string;
  /** The button's name for a screen reader; it begins with the word on the button. */
  label: string;
  fileName: string;
  read: () => Promise<Blob>;
  trans: TranslationBundle;
}): JSX.Element {
  const { note, label, fileName, read, trans } = props;
  const [message, setMessage] = useState('');
  const save = async (): Promise<void> => {
    setMessage(trans.__('Reading all of it …'));
    try {
      saveFile(fileName, await read());
      setMessage(fileName);
    } catch (reason) {
      setMessage(asServiceError(reason).message);
    }
  };
  return (
    <span className="jp-SvcSaved">
      {note !== '' && <span>{note}</span>}
      <span role="status">{message}</span>
      <button
        type="button"
        className="jp-SvcButton jp-mod-small"
        aria-label={label}
        onClick={() => void save()}
      >
        {trans.__('Download')}
      </button>
    </span>
  );
}
