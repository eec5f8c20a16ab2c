import { Dialog, Notification, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { asServiceError } from '../service';
import type { ICommand } from '../service/records/commands';
import { commandTitle } from './words';

/** Ask once, then cancel; what the service says of it is shown. */
export async function cancelAsked(
  command: ICommand,
  cancel: (id: number) => Promise<string>,
  trans: TranslationBundle
): Promise<void> {
  const title = trans.__('Cancel command %1?', command.id);
  const answer = await showDialog({
    title,
    body: trans.__('%1 ends now; what it did so far stays done.', commandTitle(command)),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Let It Run') }),
      Dialog.warnButton({ label: trans.__('Cancel the Command') })
    ],
    defaultButton: 0
  });
  if (!answer.button.accept) {
    return;
  }
  try {
    await cancel(command.id);
  } catch (reason) {
    Notification.error(trans.__('Command %1: %2', command.id, asServiceError(reason).message));
  }
}
