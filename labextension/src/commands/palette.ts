import type { JupyterFrontEnd } from '@jupyterlab/application';
import { type ICommandPalette, InputDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { notify, notifyError } from '../notices';
import { OPEN_COMMAND } from '../panel';
import { type ServiceRequests } from '../service';
import { hasEnded, type ICommand, type ICommandPage } from '../service/records/commands';
import { categoryOf } from '../words';
import type { ICommandSteps } from './steps';
import { commandTitle, statusWords } from './words';

/** Commands of the palette, which ask for the command. */
export const CHOOSE_COMMAND = 'svc-jupyter:choose-command';
export const CANCEL_COMMAND = 'svc-jupyter:cancel-command';
export const RERUN_COMMAND = 'svc-jupyter:rerun-command';

/** How many of the newest commands can be chosen. */
const OFFERED = 50;

/** What the commands of the palette do with the command that was chosen. */
export interface IChosenSteps extends Pick<ICommandSteps, 'runAgain'> {
  cancel: (command: ICommand) => Promise<void>;
}

/** Add what the palette offers for commands: open one, run one again, cancel one. */
export function addToPalette(
  app: JupyterFrontEnd,
  requests: ServiceRequests,
  steps: IChosenSteps,
  palette: ICommandPalette | null,
  trans: TranslationBundle
): void {
  const { commands } = app;
  const category = categoryOf(trans);
  const add = (
    id: string,
    label: string,
    title: string,
    isOffered: (command: ICommand) => boolean,
    step: (command: ICommand) => unknown
  ): void => {
    commands.addCommand(id, {
      label,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: async () => {
        try {
          const command = await chosen(requests, title, isOffered, trans);
          await (command && step(command));
        } catch (reason) {
          notifyError(reason);
        }
      }
    });
    palette?.addItem({ command: id, category });
  };
  add(
    CHOOSE_COMMAND,
    trans.__('Open a command…'),
    trans.__('Open a command'),
    () => true,
    ({ id }) => commands.execute(OPEN_COMMAND, { id })
  );
  add(
    RERUN_COMMAND,
    trans.__('Run a command again…'),
    trans.__('Run a command again'),
    () => true,
    steps.runAgain
  );
  add(
    CANCEL_COMMAND,
    trans.__('Cancel a command…'),
    trans.__('Cancel a command'),
    command => !hasEnded(command),
    steps.cancel
  );
}

/** Let the user choose one of their newest commands; null for none. */
async function chosen(
  requests: ServiceRequests,
  title: string,
  isOffered: (command: ICommand) => boolean,
  trans: TranslationBundle
): Promise<ICommand | null> {
  const page = await requests.get<ICommandPage>('commands', { page: 1, per_page: OFFERED });
  const offered = page.commands.filter(isOffered);
  if (offered.length === 0) {
    notify(trans.__('No command is in a state for this.'));
    return null;
  }
  const items = offered.map(command => {
    const { icon, word } = statusWords(command.status, trans);
    return `${icon} ${commandTitle(trans, command)} · ${word} · ${command.id}`;
  });
  const { button, value } = await InputDialog.getItem({ title, items });
  return button.accept ? (offered[items.indexOf(value ?? '')] ?? null) : null;
}
