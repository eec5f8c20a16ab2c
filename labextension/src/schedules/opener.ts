import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import { viewArea } from '../panel';
import { ExecutedNotebook } from './executedNotebook';
import type { IOpener } from './performer';

/** Return what opens executed notebooks: a page in the main area, or a copy among the user's files. */
export function labOpener(app: JupyterFrontEnd, trans: TranslationBundle): IOpener {
  return {
    page: (id, title, read) => {
      if (![...app.shell.widgets(viewArea(app))].some(widget => widget.id === id)) {
        const widget = new ExecutedNotebook(title, read, trans);
        widget.id = id;
        app.shell.add(widget, viewArea(app), { type: 'Executed Notebook' });
      }
      app.shell.activateById(id);
    },
    copy: async (name, content) => {
      const path = await saveFree(app, name, content);
      await app.commands.execute('docmanager:open', { path });
    }
  };
}

/** Save a notebook in the server's top folder under a free name; return its path. */
async function saveFree(
  app: JupyterFrontEnd,
  name: string,
  content: INotebookContent
): Promise<string> {
  const { contents } = app.serviceManager;
  const folder = await contents.get('', { content: true });
  const taken = new Set((folder.content as { name: string }[]).map(one => one.name));
  let path = `${name}.ipynb`;
  for (let number = 2; taken.has(path); number++) {
    path = `${name}-${number}.ipynb`;
  }
  await contents.save(path, { type: 'notebook', format: 'json', content });
  return path;
}
