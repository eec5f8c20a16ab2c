import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import { notebookIcon } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';
import { viewArea } from '../panel';
import { asServiceError } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import { iconOf } from '../words';
import { ownZone } from '../zones';
import { comparisonWidget } from './comparison';
import type { IOpener } from './performer';
import { forText, type IRun, parametersText, startedText, statusText, tookText } from './runs';
import { toneOf } from './tones';
import '../../style/scheduleDetail.css';

/** An executed notebook: a head about its run, and the notebook as a page in a frame without permissions. */
export class ExecutedNotebook extends MainAreaWidget {
  /** @param page - Reads the page; rejects with `ServiceError`. */
  constructor(
    run: IRun,
    schedule: IScheduleRecord,
    page: () => Promise<string>,
    trans: TranslationBundle
  ) {
    const title = trans.__('%1, %2', schedule.name, forText(trans, run, new Date()));
    const content = new Widget();
    content.addClass('jp-SvcExecuted');
    content.node.append(headOf(run, schedule, trans));
    const shown = page().then(
      text => {
        const frame = frameOf(text, title);
        content.node.append(frame);
        const themed = new MutationObserver(() => (frame.srcdoc = guarded(text)));
        themed.observe(document.body, { attributeFilter: ['data-jp-theme-name'] });
        content.disposed.connect(() => themed.disconnect());
      },
      (reason: unknown) => {
        const problem = document.createElement('p');
        problem.setAttribute('role', 'alert');
        problem.textContent = `✗ ${asServiceError(reason).message}`;
        content.node.append(problem);
      }
    );
    super({ content, reveal: shown });
    this.toolbar.hide(); // it would be an empty strip
    this.title.label = title;
    this.title.caption = trans.__('The notebook as it was executed; it cannot be changed');
    this.title.icon = notebookIcon;
    this.title.closable = true;
  }
}

/** Return what a reader must know of the run: when, how it ended, and with which parameters. */
function headOf(run: IRun, schedule: IScheduleRecord, trans: TranslationBundle): HTMLElement {
  const now = new Date();
  const head = document.createElement('div');
  head.className = 'jp-SvcExecuted-head';
  const part = (text: string, className: string): void => {
    if (text !== '') {
      const node = document.createElement('span');
      node.className = className;
      node.textContent = text;
      head.append(node);
    }
  };
  part(trans.__('Run of %1', schedule.name), 'jp-SvcExecuted-name');
  part(forText(trans, run, now), '');
  part(`${iconOf(run.status)} ${statusText(trans, run)}`, `jp-SvcRuns-status ${toneOf(run)}`);
  const started = startedText(run, now);
  part(started && `${trans.__('started %1', started)} (${ownZone()})`, 'jp-SvcMuted');
  const took = tookText(trans, run, now);
  part(took && trans.__('took %1', took), 'jp-SvcMuted');
  part(trans.__('command %1', run.commandId ?? ''), 'jp-SvcMuted');
  part(parametersText(run, schedule), 'jp-SvcMuted');
  return head;
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
 * Return a page with the policy before its own content, and the colours of the present theme after it. The parser uses
 * the first head and adds the content of the page's own head to it.
 */
export function guarded(page: string): string {
  return `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="${POLICY}"></head>${page}${themeStyle()}`;
}

/** Return the theme's variables, which pages of notebooks use as JupyterLab does, as a style sheet. */
function themeStyle(): string {
  const names = new Set<string>();
  for (const sheet of document.styleSheets) {
    for (const rule of rulesOf(sheet)) {
      if (rule instanceof CSSStyleRule && rule.selectorText.includes(':root')) {
        Array.from(rule.style)
          .filter(name => name.startsWith('--jp-'))
          .forEach(name => names.add(name));
      }
    }
  }
  const values = getComputedStyle(document.documentElement);
  const lines = [...names].map(name => `${name}:${values.getPropertyValue(name)}`);
  const css = `:root{${lines.join(';')}}body{background:var(--jp-layout-color0);color:var(--jp-content-font-color1)}`;
  return `<style>${css.replace(/</g, '')}</style>`;
}

/** Return a sheet's rules; none of a sheet of another origin, which may not be read. */
function rulesOf(sheet: CSSStyleSheet): CSSRule[] {
  try {
    return [...sheet.cssRules];
  } catch {
    return [];
  }
}

/** Return the opener of executed notebooks: a page in the main area, or a copy among the user's files. */
export function labOpener(app: JupyterFrontEnd, trans: TranslationBundle): IOpener {
  return {
    page: (run, schedule, calls) => {
      const id = `svc-jupyter-executed-${run.commandId ?? 0}`;
      if (![...app.shell.widgets(viewArea(app))].some(widget => widget.id === id)) {
        const read = (): Promise<string> => calls.executedPage(run.commandId ?? 0);
        const widget = new ExecutedNotebook(run, schedule, read, trans);
        widget.id = id;
        app.shell.add(widget, viewArea(app), { type: 'Executed Notebook' });
      }
      app.shell.activateById(id);
    },
    comparison: (id, props) => {
      // What was compared before may have changed since.
      [...app.shell.widgets(viewArea(app))].find(widget => widget.id === id)?.close();
      const widget = comparisonWidget(props);
      widget.id = id;
      app.shell.add(widget, viewArea(app), { type: 'Comparison' });
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
