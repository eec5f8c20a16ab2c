import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { listIcon } from '@jupyterlab/ui-components';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';
import { panelMemory } from './model';
import { Views } from './previews';
import { ISvcPanel } from './tokens';
import { ServicePanel } from './widget';

/** Shows the side panel. */
export const SHOW_PANEL = 'svc-jupyter:show-panel';

const MEMORY = `${EXTENSION_ID}:panel`;

/** The side panel "Service". */
export const panelPlugin: JupyterFrontEndPlugin<ISvcPanel> = {
  id: `${EXTENSION_ID}:panel`,
  description: 'The side panel of the data-processing service.',
  autoStart: true,
  provides: ISvcPanel,
  requires: [ISvcService, IStateDB],
  optional: [ITranslator, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    stateDB: IStateDB,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null
  ): ISvcPanel => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const panel = new ServicePanel({
      service,
      translator: translator ?? nullTranslator,
      views: new Views(app, trans),
      activate: () => app.shell.activateById(panel.id),
      remember: names => void stateDB.save(MEMORY, { collapsed: names })
    });
    void stateDB.fetch(MEMORY).then(
      kept => panel.restore(panelMemory(kept)),
      () => undefined
    );
    panel.id = 'svc-jupyter-panel';
    panel.title.icon = listIcon;
    panel.title.caption = trans.__('Service');
    panel.node.setAttribute('role', 'region');
    panel.node.setAttribute('aria-label', trans.__('Service'));
    app.shell.add(panel, 'left', { rank: 650, type: 'Service' });
    restorer?.add(panel, panel.id);
    app.commands.addCommand(SHOW_PANEL, {
      label: trans.__('Show the service panel'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => app.shell.activateById(panel.id)
    });
    palette?.addItem({ command: SHOW_PANEL, category: categoryOf(trans) });
    return panel;
  }
};
