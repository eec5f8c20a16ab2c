import type { TranslationBundle } from '@jupyterlab/translation';
import {
  deleteIcon,
  editIcon,
  fileUploadIcon,
  type LabIcon,
  newFolderIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { moveIcon } from '../icons';
import type { ContentsActions } from './actions';
import { type IItem, isPlace, placeAt } from './items';
import type { JupyterTree } from './jupyterTree';
import type { TreeModel } from './model';
import { possibleSteps, type Step } from './steps';

/** The parts that the commands act on. */
export interface IContentsParts {
  trans: TranslationBundle;
  model: TreeModel;
  jupyter: JupyterTree;
  /** Loaded when the first step is performed. */
  actions: () => Promise<ContentsActions>;
  /** The name of the open notebook, for an upload. */
  openNotebook: () => string | null;
}

/** Add the commands to the application; buttons, menus and shortcuts call them. */
export function addCommands(commands: CommandRegistry, parts: IContentsParts): void {
  const { trans, model, actions } = parts;
  const add = (
    id: string,
    step: Step,
    look: { label: string; icon?: LabIcon },
    execute: (actions: ContentsActions, item: IItem) => Promise<void>
  ): void => {
    const isEnabled = (): boolean => model.busy === null && possibleSteps(model.selected).has(step);
    commands.addCommand(id, {
      ...look,
      caption: look.label,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled,
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
  rename: 'svc-jupyter:rename-content',
  move: 'svc-jupyter:move-content',
  remove: 'svc-jupyter:delete-content',
  upload: 'svc-jupyter:upload-notebook',
  refresh: 'svc-jupyter:refresh-contents'
} as const;
