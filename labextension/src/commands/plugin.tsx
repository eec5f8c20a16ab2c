import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, type MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { ISvcPanel, Loaded, OPEN_COMMAND, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import type { ICommand } from '../service/records/commands';
import type { CommandDetailWidget } from './detail';
import { Endings } from './endings';
import { CommandsModel, type ICommandFilter, type ICommandsMemory, memoryOf } from './model';
import { addToPalette } from './palette';
import { commandSteps, type ICommandSteps } from './steps';

const RANK = 10;
const MEMORY = `${EXTENSION_ID}:commands`;
const sectionCode = (): Promise<typeof import('./section')> => import('./section');
const filterCode = (): Promise<typeof import('./filterMenu')> => import('./filterMenu');

/** The section "Commands" of the side panel, and commands in the main area. */
export const commandsPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:commands`,
  description: 'The history of commands: progress, logs, results, cancellation.',
  autoStart: true,
  requires: [ISvcService, ISvcPanel, IStateDB],
  optional: [
    ITranslator,
    ILayoutRestorer,
    INotebookTracker,
    IEditorLanguageRegistry,
    IRenderMimeRegistry,
    ICommandPalette
  ],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    stateDB: IStateDB,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null,
    languages: IEditorLanguageRegistry | null,
    rendermime: IRenderMimeRegistry | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const steps = commandSteps(app, service.requests, notebooks, languages, trans);
    const model = new CommandsModel(service.requests);
    const listed = (id: number): ICommand | undefined =>
      model.resource.state.value?.find(command => command.id === id);
    addDetails(app, service, panel, steps, listed, rendermime, restorer, trans);
    tellOfEndings(app, service, model, trans);
    const cancelOne = (command: ICommand): Promise<void> => cancel(model, command, trans);
    addToPalette(app, service.requests, { ...steps, cancel: cancelOne }, palette, trans);
    void stateDB.fetch(MEMORY).then(
      kept => addSection(app, panel, model, memoryOf(kept), stateDB, trans),
      () => addSection(app, panel, model, memoryOf(undefined), stateDB, trans)
    );
  }
};

function addSection(
  app: JupyterFrontEnd,
  panel: ISvcPanel,
  model: CommandsModel,
  memory: ICommandsMemory,
  stateDB: IStateDB,
  trans: TranslationBundle
): void {
  let { selected } = memory;
  model.filter = { ...memory.filter, search: panel.search };
  const show = (filter: ICommandFilter): void => {
    model.filter = filter;
    remember();
  };
  const remember = (): void => {
    const { allUsers, status } = model.filter;
    void stateDB.save(MEMORY, { filter: { allUsers, status }, selected });
  };
  const handle = panel.addSection({
    id: 'commands',
    title: trans.__('Commands'),
    rank: RANK,
    tools: new VisibleView(() => (
      <Loaded load={filterCode} trans={trans}>
        {({ FilterMenu }) => <FilterMenu model={model} onChange={show} trans={trans} />}
      </Loaded>
    )),
    widget: new VisibleView(() => (
      <Loaded load={sectionCode} trans={trans}>
        {({ CommandsSection }) => (
          <CommandsSection
            model={model}
            trans={trans}
            selected={selected}
            open={(id, preview) => void app.commands.execute(OPEN_COMMAND, { id, preview })}
            cancel={command => void cancel(model, command, trans)}
            show={show}
            remember={key => {
              selected = key;
              remember();
            }}
          />
        )}
      </Loaded>
    ))
  });
  panel.whileShown(() => model.resource.watch());
  panel.refreshRequested.connect(() => void model.resource.refresh());
  panel.searchChanged.connect((_, search) => {
    model.filter = { ...model.filter, search };
  });
  model.resource.changed.connect(() => {
    const { activeCount } = model;
    handle.tone = 'busy';
    handle.badge = activeCount === 0 ? '' : trans.__('%1 running', activeCount);
  });
}

/** Tell of the end of the user's long commands, except one that is looked at. */
function tellOfEndings(
  app: JupyterFrontEnd,
  service: ISvcService,
  model: CommandsModel,
  trans: TranslationBundle
): void {
  // eslint-disable-next-line jupyter/require-disposable-ownership -- as long as the application
  const endings = new Endings(service.requests, command => {
    if (app.shell.currentWidget?.id !== viewId(command.id)) {
      void import('./toast').then(({ tellOfEnd }) => tellOfEnd(command, app.commands, trans));
    }
  });
  model.resource.changed.connect(() => {
    if (!model.filter.allUsers) {
      endings.see(model.resource.state.value ?? []);
    }
  });
}

function viewId(command: number): string {
  return `svc-jupyter-command-${command}`;
}

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
  panel: ISvcPanel,
  steps: ICommandSteps,
  listed: (id: number) => ICommand | undefined,
  rendermime: IRenderMimeRegistry | null,
  restorer: ILayoutRestorer | null,
  trans: TranslationBundle
): void {
  // eslint-disable-next-line jupyter/require-disposable-ownership -- as long as the application
  const tracker = new WidgetTracker<MainAreaWidget & { commandId: number }>({
    namespace: 'svc-jupyter-command'
  });
  app.commands.addCommand(OPEN_COMMAND, {
    label: trans.__('Open a command of the service'),
    describedBy: {
      args: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'integer', description: 'The command’s id.' },
          preview: {
            type: 'boolean',
            description: 'Show it in the tab that the next preview replaces.'
          },
          log: { type: 'boolean', description: 'Scroll to its log.' }
        }
      }
    },
    execute: async args => {
      const id = Number(args.id);
      const make = async (): Promise<CommandDetailWidget> => {
        const detail = await import('./detail');

        const widget = new detail.CommandDetailWidget(
          service.requests,
          id,
          steps,
          rendermime,
          trans,
          listed(id)
        );
        await tracker.add(widget);
        return widget;
      };
      const view = await panel.openView(`svc-jupyter-command-${id}`, make, args.preview === true);
      if (args.log === true) {
        view.showLog();
      }
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
