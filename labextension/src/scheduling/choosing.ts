import type { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog } from '@jupyterlab/filebrowser';
import type { TranslationBundle } from '@jupyterlab/translation';

const SHOWN: ReadonlySet<string> = new Set(['directory', 'notebook']);

/** Let the user choose a notebook of the Jupyter server, from a folder on; null for none. */
export async function chosenNotebook(
  manager: IDocumentManager,
  folder: string,
  trans: TranslationBundle
): Promise<string | null> {
  const { button, value } = await FileDialog.getOpenFiles({
    manager,
    defaultPath: folder,
    title: trans.__('Schedule a notebook'),
    filter: ({ type }) => (SHOWN.has(type) ? { score: 1 } : null)
  });
  const chosen = value?.find(model => model.type === 'notebook');
  return button.accept && chosen ? chosen.path : null;
}
