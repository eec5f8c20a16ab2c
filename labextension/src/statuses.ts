// Made from api/status_words.py by scripts/make_lab_sources.py: change it there.
import type { TranslationBundle } from '@jupyterlab/translation';

/** The icon of each status of clusters, actions and commands, and of each word for a schedule's status. */
export const ICONS: ReadonlyMap<string, string> = new Map([
  ['waiting', '◌'],
  ['submitted', '◌'],
  ['running', '◐'],
  ['done', '✓'],
  ['error', '✗'],
  ['not_found', '✗'],
  ['cancelled', '■'],
  ['active', '●'],
  ['suspended', '‖'],
  ['ended', '■'],
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

/** Return the word for each status of a schedule. */
export function wordsOfSchedules(trans: TranslationBundle): ReadonlyMap<string, string> {
  return new Map([
    ['RUNNING', trans.__('active')],
    ['SUSPENDED', trans.__('suspended')],
    ['DONE', trans.__('ended')],
    ['KILLED', trans.__('ended')]
  ]);
}

/** Return the word for each state of a cluster. */
export function wordsOfClusters(trans: TranslationBundle): ReadonlyMap<string, string> {
  return new Map([
    ['UP', trans.__('up')],
    ['DOWN', trans.__('down')],
    ['PENDING', trans.__('starting')],
    ['TERMINATING', trans.__('terminating')]
  ]);
}

/** Return the word for each type of command. */
export function wordsOfTypes(trans: TranslationBundle): ReadonlyMap<string, string> {
  return new Map([
    ['ShellCommand', trans.__('shell')],
    ['PigCommand', trans.__('Pig')],
    ['DbTapQueryCommand', trans.__('database query')],
    ['HiveCommand', trans.__('Hive')],
    ['PrestoCommand', trans.__('Presto')],
    ['SqlCommand', trans.__('Spark SQL')],
    ['HadoopCommand', trans.__('Hadoop job')],
    ['SparkCommand', trans.__('Spark')],
    ['CompositeCommand', trans.__('composite')],
    ['DbExportCommand', trans.__('database export')],
    ['DbImportCommand', trans.__('database import')],
    ['JupyterNotebookCommand', trans.__('notebook')],
    ['AddNodeCommand', trans.__('add nodes')],
    ['RemoveNodeCommand', trans.__('remove a node')]
  ]);
}

/** Return the word for each source of commands. */
export function wordsOfSources(trans: TranslationBundle): ReadonlyMap<string, string> {
  return new Map([
    ['API', trans.__('API')],
    ['UI', trans.__('notebook')],
    ['SCHEDULED', trans.__('schedule')]
  ]);
}

/** Return the word for an action whose command waits. */
export function waitingCommand(trans: TranslationBundle): string {
  return trans.__('waiting for a free slot');
}
