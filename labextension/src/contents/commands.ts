import type { TranslationBundle } from '@jupyterlab/translation';
import {
  deleteIcon,
  editIcon,
  fileUploadIcon,
  type LabIcon,
  newFolderIcon,
  refreshIcon,
  tableRowsIcon,
  textEditorIcon
} from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { moveIcon } from '../icons';
import type { ContentsActions } from './actions';
import { type IItem, isPlace, placeAt } from './items';
import type { JupyterTree } from './jupyterTree';
import type { TreeModel } from './model';
import { possibleSteps, type Step } from './steps';

/** Steps of one kind of item; the menu of the others does not have them. */
const OF_ONE_KIND: ReadonlySet<Step> = new Set(['note', 'publish']);

/** The parts that the commands act on. */
export interface IContentsParts {
  trans: TranslationBundle;
  model: TreeModel;
  jupyter: JupyterTree;
  /** Loaded when the first step is performed. */
  actions: () => Promise<ContentsActions>;
  /** Ask for a name, make a note in a folder and open it; resolves to its path, or to null. */
  makeNote: (location: string) => Promise<string | null>;
  /** The name of the open notebook, for an upload. */
  openNotebook: () => string | null;
}

/** Add the commands to the application; buttons, menus and shortcuts call them. */
export function addCommands(commands: CommandRegistry, parts: IContentsParts): void {
  const { trans, model, actions, makeNote } = parts;
  const add = (
    id: string,
    step: Step,
    look: { label: string; icon?: LabIcon },
    execute: (actions: ContentsActions, item: IItem) => Promise<void>
  ): void => {
    const isPossible = (): boolean => possibleSteps(model.selected).has(step);
    const isEnabled = (): boolean => model.busy === null && isPossible();
    commands.addCommand(id, {
      ...look,
      caption: look.label,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled,
      isVisible: () => !OF_ONE_KIND.has(step) || isPossible(),
      execute: async () => {
        const item = model.selected;
        if (item && isEnabled()) {
          await execute(await actions(), item);
        }
      }
    });
  };
  add(COMMANDS.open, 'open', { label: trans.__('Open a copy') }, (to, item) => to.open(item));
  const folder = { label: trans.__('New folder…'), icon: newFolderIcon };
  add(COMMANDS.create, 'create', folder, (to, item) => to.create(item));
  const note = { label: trans.__('New note…'), icon: textEditorIcon };
  add(COMMANDS.note, 'note', note, async (_, item) => {
    const path = await makeNote(item.path);
    if (path !== null) {
      await model.put(item, () => Promise.resolve(path));
    }
  });
  const dashboard = { label: trans.__('New dashboard…'), icon: tableRowsIcon };
  add(COMMANDS.dashboard, 'publish', dashboard, (to, item) => to.publish(item));
  const rename = { label: trans.__('Rename…'), icon: editIcon };
  add(COMMANDS.rename, 'rename', rename, (to, item) => to.rename(item));
  const move = { label: trans.__('Move to…'), icon: moveIcon };
  add(COMMANDS.move, 'move', move, (to, item) => to.move(item));
  const remove = { label: trans.__('Delete…'), icon: deleteIcon };
  add(COMMANDS.remove, 'remove', remove, (to, item) => to.remove(item));
  addUpload(commands, parts);
  commands.addCommand(COMMANDS.refresh, {
    label: trans.__('Refresh'),
    caption: trans.__('Refresh'),
    icon: refreshIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => model.refresh()
  });
  model.changed.connect(() => {
    for (const id of Object.values(COMMANDS)) {
      commands.notifyCommandChanged(id);
    }
  });
}

function addUpload(commands: CommandRegistry, parts: IContentsParts): void {
  const { trans, model, jupyter, actions, openNotebook } = parts;
  const words = (): string => {
    const name = openNotebook();
    const place = placeFor(model);
    if (name === null) {
      return trans.__('Upload: open a notebook first');
    }
    return place
      ? trans.__('Upload %1 to %2', name, place.path)
      : trans.__('Upload %1: select a folder of Jupyter notebooks first', name);
  };
  commands.addCommand(COMMANDS.upload, {
    label: words,
    caption: words,
    icon: fileUploadIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    isEnabled: () => model.busy === null && openNotebook() !== null && placeFor(model) !== null,
    execute: async () => {
      const place = placeFor(model);
      if (place) {
        await (await actions()).upload(jupyter, place);
      }
    }
  });
}

/** Return the selected directory, or that of the selected notebook. */
function placeFor(model: TreeModel): IItem | null {
  const item = model.selected;
  if (!item || item.tree !== 'jupyter' || item.kind === 'tree') {
    return null;
  }
  return isPlace(item) ? item : placeAt('jupyter', item.parent);
}

/** Commands on the selected item of the section "Notebooks". */
export const COMMANDS = {
  open: 'svc-jupyter:open-content',
  create: 'svc-jupyter:new-folder',
  note: 'svc-jupyter:new-note-in-folder',
  dashboard: 'svc-jupyter:new-dashboard',
  rename: 'svc-jupyter:rename-content',
  move: 'svc-jupyter:move-content',
  remove: 'svc-jupyter:delete-content',
  upload: 'svc-jupyter:upload-notebook',
  refresh: 'svc-jupyter:refresh-contents'
} as const;
