import { type JupyterFrontEnd, LabShell } from '@jupyterlab/application';

/**
 * Where a view of ours opens: in the main area beside the documents, or at the right where the main area holds one
 * document and nothing else, as in Notebook 7.
 */
export function viewArea(app: JupyterFrontEnd): 'main' | 'right' {
  return app.shell instanceof LabShell ? 'main' : 'right';
}
