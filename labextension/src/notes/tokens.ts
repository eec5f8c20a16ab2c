import type { NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';

/** The notes that are open as notebooks. */
export interface ISvcNotes {
  /** Resolves once no save of an open notebook's note is under way, with whether the last one was refused. */
  isRefused(context: NotebookPanel['context']): Promise<boolean>;
}

/** The notes that are open as notebooks. */
export const ISvcNotes = new Token<ISvcNotes>(
  'svc-jupyter-labextension:ISvcNotes',
  'The notes of the data-processing service that are open as notebooks.'
);
