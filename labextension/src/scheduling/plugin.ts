import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry, WidgetTracker } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { scheduleIcon } from '../icons';
import {
  type ISvcSchedules as Schedules,
  ISvcSchedules,
  ScheduleCommands
} from '../schedules/tokens';
import { ISvcNotes } from '../notes/tokens';
import { notifyError } from '../notices';
import { workingFolder } from '../panel';
import { EXTENSION_ID, ISvcService, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';
import { argumentsOfForm } from './formIds';
import type { IOpening } from './opening';
import { watchNotebooks } from './openNotebooks';
import { ScheduleButton } from './toolbarButton';
import { whenIdle } from './painting';

/** The item's name in the settings of the notebook's toolbar. */
const TOOLBAR_ITEM = 'svc-schedule';

/** "Schedule this notebook": the toolbar button, the menu and palette entries, and the form. */
export const schedulingPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:scheduling`,
  description: 'Schedules notebooks: the form, and the ways to it.',
  autoStart: true,
  requires: [ISvcService, ISvcSchedules, IDocumentManager, INotebookTracker, IStateDB],
  optional: [
    ITranslator,
    ILayoutRestorer,
    IToolbarWidgetRegistry,
    ICommandPalette,
    IDefaultFileBrowser,
    ILauncher,
    ISvcNotes
  ],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    schedules: Schedules,
    documents: IDocumentManager,
    notebooks: INotebookTracker,
    state: IStateDB,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    toolbars: IToolbarWidgetRegistry | null,
    palette: ICommandPalette | null,
    browser: IDefaultFileBrowser | null,
    launcher: ILauncher | null,
    notes: ISvcNotes | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const tracker = new WidgetTracker({ namespace: 'svc-jupyter-schedule-form' });
    const { requests } = service;
    const opening: IOpening = {
      app,
      documents,
      state,
      requests,
      schedules,
      notes,
      trans,
      tracker
    };
    addCommands(opening, notebooks, browser, palette);
    addChoosing(opening, () => workingFolder(app, notebooks, browser), palette, launcher);
    const localPath = (path: string): string => app.serviceManager.contents.localPath(path);
    toolbars?.addFactory<NotebookPanel>('Notebook', TOOLBAR_ITEM, panel => {
      const open = ({ context }: NotebookPanel): void =>
        void openFor(app, schedules, localPath, context.path);
      return new ScheduleButton(panel, schedules.ofNotebooks, localPath, trans, open);
    });
    // Load the form's code in advance.
    void app.restored.then(() => whenIdle(() => void import('./opening')));
    watchNotebooks(notebooks, schedules.ofNotebooks, localPath);
    void restorer?.restore(tracker, {
      command: ScheduleCommands.schedule,
      args: ({ id }) => argumentsOfForm(id),
      name: ({ id }) => id
    });
  }
};

/** Open the form for a notebook: to edit its schedule if it is known to have one, else for a new one. */
async function openFor(
  app: JupyterFrontEnd,
  schedules: Schedules,
  localPath: (path: string) => string,
  path: string
): Promise<void> {
  const known = schedules.ofNotebooks.of(localPath(path))?.schedules[0];
  await app.commands.execute(ScheduleCommands.schedule, known ? { schedule: known.id } : { path });
}

function addCommands(
  opening: IOpening,
  notebooks: INotebookTracker,
  browser: IDefaultFileBrowser | null,
  palette: ICommandPalette | null
): void {
  const { app, trans } = opening;
  const current = (): string | undefined => notebooks.currentWidget?.context.path;
  app.commands.addCommand(ScheduleCommands.schedule, {
    label: trans.__('Schedule this notebook…'),
    icon: scheduleIcon,
    describedBy: {
      args: {
        type: 'object',
        properties: { path: { type: 'string' }, schedule: { type: 'number' } }
      }
    },
    isEnabled: args =>
      args.path !== undefined || args.schedule !== undefined || current() !== undefined,
    execute: async ({ path, schedule }) => {
      const { openEditForm, openNewForm } = await import('./opening');
      try {
        const wanted = typeof path === 'string' ? path : current();
        if (typeof schedule === 'number') {
          await openEditForm(opening, schedule);
        } else if (wanted !== undefined) {
          await openNewForm(opening, wanted);
        }
      } catch (reason) {
        notifyError(reason);
      }
    }
  });
  app.commands.addCommand(ScheduleCommands.scheduleSelected, {
    label: trans.__('Schedule notebook…'),
    icon: scheduleIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isVisible: () => selected(browser) !== undefined,
    execute: () =>
      app.commands.execute(ScheduleCommands.schedule, { path: selected(browser) ?? '' })
  });
  palette?.addItem({ command: ScheduleCommands.schedule, category: categoryOf(trans) });
}

/** Add "Schedule…", which asks for the notebook. */
function addChoosing(
  opening: IOpening,
  folder: () => string,
  palette: ICommandPalette | null,
  launcher: ILauncher | null
): void {
  const { app, documents, trans } = opening;
  const command = ScheduleCommands.scheduleChosen;
  const category = categoryOf(trans);
  app.commands.addCommand(command, {
    label: trans.__('Schedule…'),
    caption: trans.__('Run a notebook on a timetable'),
    icon: args => (args.isPalette ? undefined : scheduleIcon),
    describedBy: { args: { type: 'object', properties: {} } },
    execute: async () => {
      const { chosenNotebook } = await import('./choosing');
      const path = await chosenNotebook(documents, folder(), trans);
      await (path && app.commands.execute(ScheduleCommands.schedule, { path }));
    }
  });
  palette?.addItem({ command, category });
  launcher?.add({ command, category, rank: 10 });
}

/** Return the notebook selected in the file browser; undefined for none or several. */
function selected(browser: IDefaultFileBrowser | null): string | undefined {
  const items = [...(browser?.selectedItems() ?? [])];
  const [item] = items;
  return items.length === 1 && item?.type === 'notebook' ? item.path : undefined;
}
