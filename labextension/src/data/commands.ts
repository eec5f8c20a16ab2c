import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Clipboard } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import {
  copyIcon,
  deleteIcon,
  editIcon,
  type LabIcon,
  pasteIcon,
  refreshIcon,
  tableRowsIcon
} from '@jupyterlab/ui-components';
import { notifyError } from '../notices';
import { cellInsertion, OPEN_COMMAND, textInsertion } from '../panel';
import { asServiceError, type ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';
import type { ITap } from '../service/records/data';
import type { IDataItem } from './items';
import type { DataModel } from './model';
import { cellOf, commandOf, inCommandName, lookQuery, nameInQuery } from './sql';
import { type ISurroundings, obstacleTo, type Step, stepLabel, stepsOf, stepWords } from './steps';

/** Commands on the selected item of the section "Data". */
export const COMMANDS: Readonly<Record<Step, string>> = {
  insert: 'svc-jupyter:insert-data',
  preview: 'svc-jupyter:preview-data',
  copy: 'svc-jupyter:copy-data-name',
  edit: 'svc-jupyter:edit-tap',
  remove: 'svc-jupyter:remove-tap',
  refresh: 'svc-jupyter:refresh-data'
};

const ICONS: Readonly<Record<Step, LabIcon>> = {
  insert: pasteIcon,
  preview: tableRowsIcon,
  copy: copyIcon,
  edit: editIcon,
  remove: deleteIcon,
  refresh: refreshIcon
};

/** The parts that the commands act on. */
export interface IDataParts {
  app: JupyterFrontEnd;
  trans: TranslationBundle;
  requests: ServiceRequests;
  model: DataModel;
  notebooks: INotebookTracker | null;
  /** Open the form of a tap; null for a new one. */
  openForm: (tap: ITap | null) => void;
  /** Remove a tap after a confirmation. */
  remove: (tap: ITap) => Promise<void>;
}

/** Performs the steps, and says which are possible. */
export class DataSteps {
  constructor(private readonly _parts: IDataParts) {}

  get surroundings(): ISurroundings {
    const { app, notebooks } = this._parts;
    return {
      hasNotebook: cellInsertion(app, notebooks) !== null,
      hasCell: textInsertion(app, notebooks) !== null
    };
  }

  icon(step: Step): LabIcon {
    return ICONS[step];
  }

  words(item: IDataItem, step: Step): string {
    return stepWords(this._parts.trans, item, step, this.surroundings);
  }

  isPossible(item: IDataItem | null, step: Step): boolean {
    const { trans } = this._parts;
    return (
      item !== null &&
      stepsOf(item).has(step) &&
      obstacleTo(trans, item, step, this.surroundings) === null
    );
  }

  /** Perform a step of an item, if it is possible. */
  async perform(item: IDataItem, step: Step): Promise<void> {
    if (!this.isPossible(item, step)) {
      return;
    }
    const { app, model, notebooks, openForm, remove } = this._parts;
    const { tap } = item.source;
    switch (step) {
      case 'insert':
        if (item.kind === 'table') {
          cellInsertion(app, notebooks)?.(cellOf(item.source, lookQuery(item)));
        } else {
          textInsertion(app, notebooks)?.(nameInQuery(item));
        }
        return;
      case 'preview':
        return this._preview(item);
      case 'copy':
        Clipboard.copyToSystem(nameInQuery(item));
        return;
      case 'refresh':
        return model.refresh(item);
      case 'edit':
        openForm(tap);
        return;
      case 'remove':
        return tap ? remove(tap) : undefined;
    }
  }

  /** Submit a query of a few rows, and open its command, which shows them. */
  private async _preview(item: IDataItem): Promise<void> {
    const { app, requests, trans } = this._parts;
    const name = trans.__('Preview of %1', inCommandName(item.name));
    try {
      const body = commandOf(item.source, lookQuery(item), name);
      const { id } = await requests.post<ICommand>('commands', body);
      await app.commands.execute(OPEN_COMMAND, { id, preview: true });
    } catch (reason) {
      notifyError(trans.__('%1 cannot be shown: %2', item.name, asServiceError(reason).message));
    }
  }
}

/** Add the commands to the application; menus and shortcuts call them for the selected item. */
export function addCommands(parts: IDataParts, steps: DataSteps): void {
  const { app, trans, model, notebooks } = parts;
  const { commands } = app;
  for (const step of Object.keys(ICONS) as Step[]) {
    commands.addCommand(COMMANDS[step], {
      label: () => {
        const item = model.selected;
        const label = stepLabel(trans, item, step);
        const obstacle = item && obstacleTo(trans, item, step, steps.surroundings);
        return obstacle ? trans.__('%1: %2', label, obstacle) : label;
      },
      icon: ICONS[step],
      describedBy: { args: { type: 'object', properties: {} } },
      isVisible: () => stepsOf(model.selected).has(step),
      isEnabled: () => steps.isPossible(model.selected, step),
      execute: async () => {
        if (model.selected) {
          await steps.perform(model.selected, step);
        }
      }
    });
  }
  const told = (): void => {
    for (const id of Object.values(COMMANDS)) {
      commands.notifyCommandChanged(id);
    }
  };
  model.changed.connect(told);
  notebooks?.currentChanged.connect(told);
  notebooks?.activeCellChanged.connect(told);
}
