import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { RESULT_MIME, STATUS_MIME } from './bundle';
import type { IOutputContext } from './outputContext';
import { OutputRenderer } from './renderer';

/** Before text/html (50), which the same outputs have for programs without this extension. */
const RANK = 10;

/** Shows commands in notebooks: their line while and after they run, and all rows of their results. */
export const outputsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:results`,
  description:
    'Shows commands and the rows of results in notebooks: sort, filter, search, plot, download.',
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
