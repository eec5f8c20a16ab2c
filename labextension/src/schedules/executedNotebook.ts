import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import { notebookIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { viewArea } from '../panel';
import { asServiceError } from '../service';
import type { IOpener } from './performer';

/** An executed notebook as a page in a frame without permissions. */
export class ExecutedNotebook extends MainAreaWidget {
  /** @param page - Reads the page; rejects with `ServiceError`. */
  constructor(title: string, page: () => Promise<string>, trans: TranslationBundle) {
    const content = new Widget();
    content.addClass('jp-SvcExecuted');
    const shown = page().then(
      text => content.node.append(frameOf(text, title)),
      (reason: unknown) => {
        const problem = document.createElement('p');
        problem.setAttribute('role', 'alert');
        problem.textContent = `✗ ${asServiceError(reason).message}`;
        content.node.append(problem);
      }
    );
    super({ content, reveal: shown });
    this.title.label = title;
    this.title.caption = trans.__('The notebook as it was executed; it cannot be changed');
    this.title.icon = notebookIcon;
    this.title.closable = true;
  }
}

function frameOf(page: string, title: string): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', '');
  frame.title = title;
  frame.srcdoc = guarded(page);
  return frame;
}

/** With this policy nothing in a page runs, and nothing is loaded from elsewhere. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:";

/**
 * Return a page with the policy before its own content. The parser uses the first head and adds the content of the
 * page's own head to it.
 */
export function guarded(page: string): string {
  return `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="${POLICY}"></head>${page}`;
}

/** Return the opener of executed notebooks: a page in the main area, or a copy among the user's files. */
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
