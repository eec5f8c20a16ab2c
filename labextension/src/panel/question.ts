import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

/** A question before a step; `yes` names the object, and is not the default. */
export interface IQuestion {
  title: string;
  text: string;
  yes: string;
  /** The other answer; by default `No, leave it`. */
  no?: string;
  /** Whether `yes` is red, since it destroys something; by default it does. */
  isDestructive?: boolean;
}

/** Ask once whether to perform a step; the default answer changes nothing. */
export async function isConfirmed(trans: TranslationBundle, question: IQuestion): Promise<boolean> {
  const answer = await showDialog({
    title: question.title,
    body: question.text,
    buttons: [
      Dialog.cancelButton({ label: question.no ?? trans.__('No, leave it') }),
      question.isDestructive === false
        ? Dialog.okButton({ label: question.yes })
        : Dialog.warnButton({ label: question.yes })
    ],
    defaultButton: 0
  });
  return answer.button.accept;
}
