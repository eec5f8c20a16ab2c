import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { type MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { ISvcPanel, OPEN_COMMAND, viewArea, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import type { ICommand } from '../service/records/commands';
import { CommandsModel, memoryOf } from './model';
import { CommandsSection } from './section';

const MEMORY = `${EXTENSION_ID}:commands`;

/** The section "Commands" of the side panel, and commands in the main area. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:commands`,
  description: 'The history of commands: progress, logs, results, cancellation.',
  autoStart: true,
  requires: [ISvcService, ISvcPanel, IStateDB],
  optional: [ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    stateDB: IStateDB,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    addDetails(app, service, restorer, trans);
    const model = new CommandsModel(service.requests);
    const memory = stateDB.fetch(MEMORY).then(memoryOf, () => memoryOf(undefined));
    void memory.then(({ filter, selected }) => {
      model.filter = filter;
      const handle = panel.addSection({
        id: 'commands',
        title: trans.__('Commands'),
        rank: 10,
        widget: new VisibleView(() => (
          <CommandsSection
            model={model}
            trans={trans}
            selected={selected}
            open={id => void app.commands.execute(OPEN_COMMAND, { id })}
            cancel={command => void cancel(model, command, trans)}
            remember={kept =>
              void stateDB.save(MEMORY, { filter: { ...kept.filter }, selected: kept.selected })
            }
          />
        ))
      });
      panel.whileShown(() => model.resource.watch());
      model.resource.changed.connect(() => {
        const { activeCount } = model;
        handle.badge = activeCount === 0 ? '' : trans.__('%1 running', activeCount);
      });
    });
  }
};

async function cancel(
  model: CommandsModel,
  command: ICommand,
  trans: TranslationBundle
): Promise<void> {
  const { cancelAsked } = await import('./cancelling');
  await cancelAsked(command, id => model.cancel(id), trans);
}

/** Add commands to the main area, each at most once; open ones are restored after a reload. */
function addDetails(
  app: JupyterFrontEnd,
  service: ISvcService,
  restorer: ILayoutRestorer | null,
  trans: TranslationBundle
): void {
  // eslint-disable-next-line jupyter/require-disposable-ownership -- as long as the application
  const tracker = new WidgetTracker<MainAreaWidget & { commandId: number }>({
    namespace: 'svc-jupyter-command'
  });
  app.commands.addCommand(OPEN_COMMAND, {
    label: trans.__('Open a Command of the Service'),
    describedBy: {
      args: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'integer', description: 'The command’s id.' } }
      }
    },
    execute: async args => {
      const id = Number(args.id);
      let widget = tracker.find(open => open.commandId === id);
      if (widget === undefined) {
        const { CommandDetailWidget } = await import('./detail');
        // eslint-disable-next-line jupyter/require-disposable-ownership -- the shell disposes what is closed
        widget = new CommandDetailWidget(service.requests, id, trans);
        await tracker.add(widget);
        app.shell.add(widget, viewArea(app));
      }
      app.shell.activateById(widget.id);
    }
  });
  if (restorer !== null) {
    void restorer.restore(tracker, {
      command: OPEN_COMMAND,
      args: widget => ({ id: widget.commandId }),
      name: widget => String(widget.commandId)
    });
  }
}
