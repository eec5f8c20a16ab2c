import type { TranslationBundle } from '@jupyterlab/translation';
import { notifyError } from '../notices';
import { isConfirmed } from '../panel';
import { asServiceError } from '../service';
import type { ICommand } from '../service/records/commands';
import { commandTitle } from './words';

/** Ask once, then cancel; shows the service's answer. */
export async function cancelAsked(
  command: ICommand,
  cancel: (id: number) => Promise<string>,
  trans: TranslationBundle
): Promise<void> {
  const question = {
    title: trans.__('Cancel command %1?', command.id),
    text: trans.__('%1 ends now; what it did so far stays done.', commandTitle(trans, command)),
    yes: trans.__('Cancel the command'),
    no: trans.__('Let it run')
  };
  if (!(await isConfirmed(trans, question))) {
    return;
  }
  try {
    await cancel(command.id);
  } catch (reason) {
    notifyError(trans.__('Command %1: %2', command.id, asServiceError(reason).message));
  }
}
