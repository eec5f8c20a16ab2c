import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { asServiceError } from '../service';

/** Under it nothing in a page runs, and nothing is loaded from elsewhere. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:";

/**
 * Return a page with the policy in front of whatever it says itself. The parser takes the first head and goes on with
 * what the page's own head holds.
 */
export function guarded(page: string): string {
  return `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="${POLICY}"></head>${page}`;
}

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
