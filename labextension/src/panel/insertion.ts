import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';

/** Return what inserts a cell below the active one of the open notebook; null when none is open. */
export function cellInsertion(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null
): ((cell: string) => void) | null {
  const panel = notebooks?.currentWidget;
  if (!panel) {
    return null;
  }
  const { content: notebook, id } = panel;
  return cell => {
    const { activeCellIndex, model } = notebook;
    model?.sharedModel.insertCell(activeCellIndex + 1, { cell_type: 'code', source: cell });
    notebook.activeCellIndex = activeCellIndex + 1;
    app.shell.activateById(id);
  };
}

/** Return what writes a text at the cursor of the active cell of the open notebook; null when there is none. */
export function textInsertion(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null
): ((text: string) => void) | null {
  const panel = notebooks?.currentWidget;
  const editor = panel?.content.activeCell?.editor;
  if (!panel || !editor) {
    return null;
  }
  return text => {
    app.shell.activateById(panel.id);
    editor.replaceSelection?.(text);
    editor.focus();
  };
}
