import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { addIcon } from '@jupyterlab/ui-components';
import { ISvcPanel, Loaded, loadedOnce, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';

/** Opens the form of a new tap. */
export const ADD_TAP = 'svc-jupyter:add-tap';

const RANK = 35;

/**
 * The section "Data": taps and Hive with their schemas, tables and columns, and the form of a tap.
 *
 * Its code is loaded when the section is first visible, or a tap is added.
 */
export const dataPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:data`,
  description: 'Data: taps, schemas, tables and columns; queries and previews of tables.',
  autoStart: true,
  requires: [ISvcService, ISvcPanel, IStateDB],
  optional: [ITranslator, INotebookTracker, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    stateDB: IStateDB,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const { requests } = service;
    const opened = loadedOnce(async () => {
      const { OpenedData } = await import('./opened');
      return new OpenedData({ app, panel, requests, stateDB, notebooks, trans, head: section });
    });
    app.commands.addCommand(ADD_TAP, {
      label: trans.__('Add a tap…'),
      caption: trans.__('Add a tap, a stored connection to a database'),
      icon: addIcon,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => (await opened()).openForm(null)
    });
    palette?.addItem({ command: ADD_TAP, category: categoryOf(trans) });
    const section = panel.addSection({
      id: 'data',
      title: trans.__('Data'),
      rank: RANK,
      tools: new VisibleView(() => (
        <button
          type="button"
          className="jp-SvcMenuButton"
          title={trans.__('Add a tap, a stored connection to a database')}
          aria-label={trans.__('Add a tap')}
          onClick={() => void app.commands.execute(ADD_TAP)}
        >
          <addIcon.react tag="span" aria-hidden="true" />
        </button>
      )),
      widget: new VisibleView(() => (
        <Loaded load={opened} trans={trans}>
          {({ Section }) => <Section />}
        </Loaded>
      ))
    });
  }
};
