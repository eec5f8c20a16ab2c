import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { OPEN_COMMAND } from '../panel';
import type { ICommand } from '../service/records/commands';
import { commandTitle, timeTaken } from './words';

/** How long the message about a success is shown, in milliseconds. */
const SHOWN = 15_000;

/** Tell that a command has ended, with a button that shows it. */
export function tellOfEnd(
  command: ICommand,
  commands: CommandRegistry,
  trans: TranslationBundle
): void {
  const { id } = command;
  const title = commandTitle(trans, command);
  const took = timeTaken(trans, command, new Date());
  const options = {
    autoClose: SHOWN,
    actions: [
      { label: trans.__('Show'), callback: () => void commands.execute(OPEN_COMMAND, { id }) }
    ]
  };
  if (command.status === 'done') {
    Notification.success(trans.__('Command %1, %2, is done after %3.', id, title, took), options);
  } else {
    const reason = (command.message ?? '').trim().split('\n', 1)[0] ?? '';
    Notification.error(
      [trans.__('Command %1, %2, failed after %3.', id, title, took), reason].join(' ').trim(),
      { ...options, autoClose: false }
    );
  }
}
