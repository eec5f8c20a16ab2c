import type { EditorView } from '@codemirror/view';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ICellModel } from '@jupyterlab/cells';
import { EditorExtensionRegistry, IEditorExtensionRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { sqlChecks } from './editorExtension';
import { type IProblem, defaultTapOf, hasSql } from './sqlCells';

const linting = (): Promise<typeof import('./linting')> => import('./linting');

/** Marks in SQL cells what cannot be parsed, and unknown tables and columns. No cell waits for it. */
export const checkingPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:checking`,
  description: 'Marks unknown tables and columns in SQL, and what cannot be parsed.',
  autoStart: true,
  requires: [ISvcService, INotebookTracker, IEditorExtensionRegistry],
  optional: [ITranslator],
  activate: (
    _: JupyterFrontEnd,
    service: ISvcService,
    notebooks: INotebookTracker,
    extensions: IEditorExtensionRegistry,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const views = new Set<EditorView>();
    extensions.addExtension({
      name: `${EXTENSION_ID}:checking`,
      factory: ({ model }) => {
        const cell = model as ICellModel;
        if ((cell as Partial<ICellModel>).type !== 'code') {
          return null;
        }
        const check = async (source: string): Promise<readonly IProblem[]> => {
          const body = { source, default_tap: defaultTapOf(cellsAbove(cell, notebooks)) };
          return (await service.requests.post<{ problems: IProblem[] }>('check', body)).problems;
        };
        const load = async () => (await linting()).sqlLinter(check, trans);
        return EditorExtensionRegistry.createImmutableExtension(sqlChecks(load, views));
      }
    });
    NotebookActions.executed.connect((_sender, { notebook, cell }) => {
      const beside = [...views].filter(view => notebook.node.contains(view.dom));
      if (beside.length > 0 && hasSql(cell.model.sharedModel.getSource())) {
        void linting().then(({ checkAgain }) => beside.forEach(checkAgain));
      }
    });
  }
};

/** Yield the texts of the cells above a cell in its notebook; none for a cell of no notebook. */
function* cellsAbove(cell: ICellModel, notebooks: INotebookTracker): Generator<string> {
  const panel = notebooks.find(({ content }) => [...(content.model?.cells ?? [])].includes(cell));
  for (const above of panel?.content.model?.cells ?? []) {
    if (above === cell) {
      return;
    }
    yield above.sharedModel.getSource();
  }
}
