import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IQuestion } from './steps';

/** Ask once whether a step is wanted; the answer at hand changes nothing. */
export async function isConfirmed(trans: TranslationBundle, question: IQuestion): Promise<boolean> {
  const answer = await showDialog({
    title: question.title,
    body: question.text,
    buttons: [
      Dialog.cancelButton({ label: trans.__('No, leave it') }),
      Dialog.warnButton({ label: question.yes })
    ],
    defaultButton: 0
  });
  return answer.button.accept;
}
