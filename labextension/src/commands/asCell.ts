import type { ICommand } from '../service/records/commands';
import { bindings, commandText } from './words';

/** The magic of each type of command whose cell is the command's text. */
const MAGICS: Readonly<Record<string, string>> = {
  ShellCommand: '%%svc_shell',
  PigCommand: '%%svc_pig',
  DbTapQueryCommand: '%%svc_db',
  HiveCommand: '%%svc_hive',
  PrestoCommand: '%%svc_presto',
  SqlCommand: '%%svc_sql'
};

/** The language of each type's text, by its name in JupyterLab's registry. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ShellCommand: 'Shell',
  PigCommand: 'Pig',
  DbTapQueryCommand: 'SQL',
  HiveCommand: 'SQL',
  PrestoCommand: 'SQL',
  SqlCommand: 'SQL'
};
const SPARK_LANGUAGES: Readonly<Record<string, string>> = {
  python: 'Python',
  scala: 'Scala',
  r: 'R',
  sql: 'SQL'
};

/** Return the language of a command's text; null for an unknown one. */
export function languageOf(command: ICommand): string | null {
  const spark = SPARK_LANGUAGES[String(command.command.language)];
  return LANGUAGES[command.command_type] ?? spark ?? null;
}

/** Return a cell that runs the same; null for a type that has no such cell, and for a script in a file. */
export function asCell(command: ICommand): string | null {
  const magic = MAGICS[command.command_type];
  const { command: fields, label } = command;
  const text = commandText(command);
  if (magic === undefined || text === '' || fields.script_location === text) {
    return null;
  }
  const options = [
    typeof fields.db_tap_id === 'number' ? ` --tap ${fields.db_tap_id}` : '',
    label && magic !== '%%svc_db' ? ` --label ${JSON.stringify(label)}` : '',
    ...bindings(command).map(([name, value]) => ` --bind ${bound(name, value)}`),
    typeof fields.limit === 'number' ? ` --limit ${fields.limit}` : '',
    fields.dry_run === true ? ' --dry-run' : ''
  ];
  return `${magic}${options.join('')}\n${text.trim()}`;
}

/** Return the `--bind` of a value: a text of one line as it is, what has another type from the notebook's variable. */
function bound(name: string, value: unknown): string {
  if (typeof value !== 'string' || /[\r\n]/.test(value)) {
    return name;
  }
  return /^[\w.:/-]+$/.test(value)
    ? `${name}=${value}`
    : `'${name}=${value.replaceAll("'", `'"'"'`)}'`;
}
