import type { JupyterFrontEnd } from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import type { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { viewArea } from './views';

/**
 * Return the path of the folder that one works in: that of the file browser, or of the open notebook where the main area
 * holds nothing else, as in Notebook 7, whose file browser stands at the top of all folders then.
 */
export function workingFolder(
  app: JupyterFrontEnd,
  notebooks: INotebookTracker | null,
  files: IDefaultFileBrowser | null
): string {
  const open = viewArea(app) === 'right' ? notebooks?.currentWidget : null;
  return open ? PathExt.dirname(open.context.path) : (files?.model.path ?? '');
}
