import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { notebookIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { asServiceError } from '../service';
import { guarded } from './guardedPage';

/** An executed notebook as a page that is shown and cannot do anything: a frame without any right. */
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
