import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Widget } from '@lumino/widgets';
import type { JSX } from 'react';
import { ResultCalls, ResultModel, ResultView } from '../results';
import { type IOrigin, originOf, RESULT_MIME, savedRows, savedStatus } from './bundle';
import type { IOutputContext } from './outputContext';
import { withLinks } from './statusLinks';

/** Return what shows an output as it was saved: a result as its rows, a line of a command with links. */
export async function outputOf(
  context: IOutputContext,
  options: IRenderMime.IRendererOptions,
  model: IRenderMime.IMimeModel
): Promise<Widget> {
  const data = model.data[options.mimeType];
  const origin = originOf(data);
  const saved = options.mimeType === RESULT_MIME ? savedRows(data) : null;
  if (origin !== null && saved !== null) {
    return new ResultOutput(context, origin, {
      saved,
      createdAt: origin.createdAt,
      variable: savedStatus(data).name
    });
  }
  const plain = await otherwise(context.rendermime, model);
  if (origin !== null && options.mimeType !== RESULT_MIME) {
    withLinks(plain.node, origin, context);
  }
  return plain;
}

/**
 * Put the next words of a running command into its line; return false if that is not one yet.
 *
 * The links stay where they are: a press begun on one is not lost, nor is the focus.
 */
export function continueLine(shown: HTMLElement, next: HTMLElement): boolean {
  const [line, nextLine] = [shown, next].map(node => node.querySelector('.svc-status'));
  if (!line || !nextLine) {
    return false;
  }
  const words = (of: Element): Element[] =>
    [...of.children].filter(child => !child.matches('.svc-status-links'));
  words(line).forEach(child => child.remove());
  line.prepend(...words(nextLine));
  shown.querySelector('.svc-status-log')?.remove();
  line.after(...next.querySelectorAll('.svc-status-log'));
  return true;
}

/** Return the output as a program without this extension shows it. */
async function otherwise(
  rendermime: IRenderMimeRegistry,
  model: IRenderMime.IMimeModel
): Promise<IRenderMime.IRenderer> {
  const mimeType = 'text/html' in model.data ? 'text/html' : 'text/plain';
  const renderer = rendermime.createRenderer(mimeType);
  await renderer.renderModel(model);
  return renderer;
}

/** The rows of a result in the output of a cell. */
class ResultOutput extends ReactWidget {
  private readonly _model: ResultModel;

  constructor(
    private readonly _context: IOutputContext,
    { command, part }: IOrigin,
    options: ConstructorParameters<typeof ResultModel>[1]
  ) {
    super();
    this._model = new ResultModel(new ResultCalls(_context.requests, command, part), options);
  }

  override dispose(): void {
    this._model.dispose();
    super.dispose();
  }

  protected override render(): JSX.Element {
    const { rendermime, trans } = this._context;
    return <ResultView model={this._model} rendermime={rendermime} trans={trans} />;
  }
}
