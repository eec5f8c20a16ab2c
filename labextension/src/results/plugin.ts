import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { type IRenderMime, IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Panel } from '@lumino/widgets';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { RESULT_MIME, STATUS_MIME } from './bundle';
import type { IOutputContext } from './outputContext';

/** Before text/html (50), which the same outputs have for programs without this extension. */
const RANK = 10;

/** Shows results of commands in notebooks: all their rows, from the service. */
export const resultsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:results`,
  description: 'Shows the rows of results in notebooks: sort, filter, search, plot, download.',
  autoStart: true,
  requires: [ISvcService, IRenderMimeRegistry],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { requests } = service;
    const context: IOutputContext = { requests, rendermime, commands: app.commands, trans };
    for (const mimeType of [RESULT_MIME, STATUS_MIME]) {
      rendermime.addFactory(
        {
          // Shown as text throughout, and the service asked only for what the reader may see.
          safe: true,
          mimeTypes: [mimeType],
          createRenderer: options => new OutputRenderer(context, options)
        },
        RANK
      );
    }
  }
};

/** An output; the code that renders it is loaded with the first one. */
class OutputRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly _context: IOutputContext,
    private readonly _options: IRenderMime.IRendererOptions
  ) {
    super();
    this.addClass(_options.mimeType === RESULT_MIME ? 'jp-SvcResultOutput' : 'jp-SvcStatusOutput');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const { outputOf } = await import('./outputs');
    if (this.isDisposed) {
      return;
    }
    const output = await outputOf(this._context, this._options, model);
    this.widgets.slice().forEach(widget => widget.dispose());
    this.addWidget(output);
  }
}
