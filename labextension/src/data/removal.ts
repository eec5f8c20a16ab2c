import type { TranslationBundle } from '@jupyterlab/translation';
import { notifyError } from '../notices';
import { type IQuestion, isConfirmed } from '../panel';
import { asServiceError } from '../service';
import type { ITap } from '../service/records/data';
import type { TapCalls, Users } from './tapCalls';
import { tapTypeWord } from '../words';

/** The names of schedules that a question lists. */
const LISTED = 5;

/** Remove a tap after a confirmation that says what uses it. Returns whether it is removed. */
export async function removeAsked(
  trans: TranslationBundle,
  calls: TapCalls,
  tap: ITap
): Promise<boolean> {
  const users = await calls.users(tap.id);
  if (!(await isConfirmed(trans, removalQuestion(trans, tap, users)))) {
    return false;
  }
  try {
    await calls.remove(tap.id);
    return true;
  } catch (reason) {
    notifyError(trans.__('Tap %1 is not removed: %2', tap.name, asServiceError(reason).message));
    return false;
  }
}

/** Return the question. */
export function removalQuestion(trans: TranslationBundle, tap: ITap, users: Users): IQuestion {
  const text = [
    trans.__('Remove tap %1 (%2)?', tap.name, tapTypeWord(trans, tap.db_type)),
    usersText(trans, users),
    trans.__('Cells that name it will fail. The database itself stays as it is.')
  ];
  return { title: trans.__('Tap %1', tap.name), text: text.join(' '), yes: trans.__('Remove tap') };
}

function usersText(trans: TranslationBundle, users: Users): string {
  if (users === null) {
    return trans.__('Which schedules use it could not be read; those will fail.');
  }
  if (users.length === 0) {
    return trans.__('No schedule uses it.');
  }
  const more = users.length > LISTED ? '…' : '';
  const names = [...users.slice(0, LISTED), more].filter(Boolean).join(', ');
  return trans._n(
    '%1 schedule uses it and will fail: %2.',
    '%1 schedules use it and will fail: %2.',
    users.length,
    names
  );
}
