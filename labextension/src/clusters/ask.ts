import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type IQuestion, questionText, yesText } from './steps';
import { nameOf } from './view';

/** Ask once whether a step is wanted, by the name of what it is about; the answer at hand changes nothing. */
export async function isConfirmed(trans: TranslationBundle, question: IQuestion): Promise<boolean> {
  const answer = await showDialog({
    title: trans.__('Cluster %1', nameOf(question.view.record)),
    body: questionText(trans, question),
    buttons: [
      Dialog.cancelButton({ label: trans.__('No, leave it') }),
      Dialog.warnButton({ label: yesText(trans, question) })
    ],
    defaultButton: 0
  });
  return answer.button.accept;
}
