import type { IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Widget } from '@lumino/widgets';
import type { JSX } from 'react';
import { originOf, RESULT_MIME, savedRows } from './bundle';
import { ResultCalls } from './calls';
import { ResultModel } from './model';
import { ResultView } from './resultView';
import type { IOutputContext } from './outputContext';
import { withLinks } from './statusLinks';

/** Return what shows an output: a result as its rows, a status line with links. */
export async function outputOf(
  context: IOutputContext,
  options: IRenderMime.IRendererOptions,
  model: IRenderMime.IMimeModel
): Promise<Widget> {
  const data = model.data[options.mimeType];
  const origin = originOf(data);
  const saved = options.mimeType === RESULT_MIME ? savedRows(data) : null;
  if (origin !== null && saved !== null) {
    return new ResultOutput(context, origin.command, { saved, createdAt: origin.createdAt });
  }
  const plain = await otherwise(context.rendermime, model);
  if (origin !== null && options.mimeType !== RESULT_MIME) {
    withLinks(plain.node, origin, context);
  }
  return plain;
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
    command: number,
    options: ConstructorParameters<typeof ResultModel>[1]
  ) {
    super();
    this._model = new ResultModel(new ResultCalls(_context.requests, command), options);
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
