// Made from widgets/panels/status_words.py by scripts/make_lab_sources.py: change it there.
import type { TranslationBundle } from '@jupyterlab/translation';

/** The icon of each status of clusters, schedules, actions and commands. */
export const ICONS: ReadonlyMap<string, string> = new Map([
  ['waiting', '◌'],
  ['submitted', '◌'],
  ['running', '◐'],
  ['done', '✓'],
  ['error', '✗'],
  ['not_found', '✗'],
  ['cancelled', '■'],
  ['suspended', '‖'],
  ['killed', '■'],
  ['up', '●'],
  ['down', '○'],
  ['pending', '◐'],
  ['terminating', '◐']
]);

/** Return the word for each status of an action. */
export function wordsOfActions(trans: TranslationBundle): ReadonlyMap<string, string> {
  return new Map([
    ['submitted', trans.__('waiting for its turn')],
    ['waiting', trans.__('waiting for its dependencies')],
    ['running', trans.__('running')],
    ['done', trans.__('done')],
    ['error', trans.__('failed')],
    ['not_found', trans.__('dependencies not found')],
    ['cancelled', trans.__('cancelled')]
  ]);
}

/** Return the word for an action whose command waits. */
export function waitingCommand(trans: TranslationBundle): string {
  return trans.__('waiting for a free slot');
}
