import type { TranslationBundle } from '@jupyterlab/translation';
import type { ITap } from '../service/records/data';

/** The types of taps, the most frequent first. */
export const TAP_TYPES = ['postgresql', 'mysql', 'sqlserver', 'redshift', 'sqlite', 'url'] as const;

/** The plain fields of the form, by their names in the service. Secrets are not among them. */
export interface ITapValues {
  name: string;
  db_type: string;
  db_host: string;
  port: string;
  db_name: string;
  db_user: string;
  active: boolean;
  /** Whether the database lets the user in without a password; the stored one is removed. */
  hasNoPassword: boolean;
}

/** The secrets as they are typed; empty where nothing was. */
export interface ITapSecrets {
  db_passwd: string;
  url: string;
}

export type TapField = keyof ITapValues | keyof ITapSecrets;
export type TapProblems = Partial<Record<TapField, string>>;

/** Return the values of a tap, or of a new one. */
export function valuesOf(tap: ITap | null): ITapValues {
  return {
    name: tap?.name ?? '',
    db_type: tap?.db_type ?? 'postgresql',
    db_host: tap?.db_host ?? '',
    port: tap?.port ? String(tap.port) : '',
    db_name: tap?.db_name ?? '',
    db_user: tap?.db_user ?? '',
    active: tap?.active ?? true,
    hasNoPassword: false
  };
}

/** Return the fields that a type has besides name and type, in the order of the form. */
export function fieldsOf(type: string): readonly TapField[] {
  switch (type) {
    case 'url':
      return ['url'];
    case 'sqlite':
      return ['db_name'];
    default:
      return ['db_host', 'port', 'db_name', 'db_user', 'db_passwd'];
  }
}

/** Return the problems that need no service. */
export function ownProblems(
  trans: TranslationBundle,
  values: ITapValues,
  secrets: ITapSecrets,
  tap: ITap | null
): TapProblems {
  const problems: TapProblems = {};
  const has = (field: TapField): boolean => fieldsOf(values.db_type).includes(field);
  if (values.name.trim() === '') {
    problems.name = trans.__('Enter a name; cells find the tap by it');
  }
  if (has('db_host') && values.db_host.trim() === '') {
    problems.db_host = trans.__('Enter the host of the database');
  }
  const port = Number(values.port);
  const isPort = Number.isInteger(port) && port >= 1 && port <= 65_535;
  if (has('port') && values.port.trim() !== '' && !isPort) {
    problems.port = trans.__('Enter a number from 1 to 65,535, or nothing');
  }
  if (values.db_type === 'sqlite' && values.db_name.trim() === '') {
    problems.db_name = trans.__('Enter the path of the file');
  }
  if (has('url') && secrets.url === '' && tap?.db_type !== 'url') {
    problems.url = trans.__(
      'Enter the URL, such as %1',
      'dialect+driver://user:password@host/database'
    );
  }
  return problems;
}

/** Return the body that creates a tap, or the changed attributes of one; an empty text removes an attribute. */
export function bodyOf(
  values: ITapValues,
  secrets: ITapSecrets,
  tap: ITap | null
): Record<string, unknown> {
  const { name, db_type, active, hasNoPassword } = values;
  const fields = fieldsOf(db_type);
  const text = (field: 'db_host' | 'db_name' | 'db_user'): string =>
    fields.includes(field) ? values[field].trim() : '';
  const wanted: Record<string, unknown> = {
    name: name.trim(),
    db_type,
    db_host: text('db_host'),
    port: fields.includes('port') && values.port.trim() !== '' ? Number(values.port) : null,
    db_name: text('db_name'),
    db_user: text('db_user'),
    active
  };
  const before: Record<string, unknown> = tap
    ? { ...tap, db_host: tap.db_host ?? '', db_name: tap.db_name ?? '', db_user: tap.db_user ?? '' }
    : { db_host: '', port: null, db_name: '', db_user: '', active: true };
  const changed = Object.entries(wanted).filter(([field, value]) => value !== before[field]);
  const body = Object.fromEntries(changed);
  if (fields.includes('url') && secrets.url !== '') {
    body.url = secrets.url;
  }
  if (fields.includes('db_passwd') && (secrets.db_passwd !== '' || hasNoPassword)) {
    body.db_passwd = hasNoPassword ? '' : secrets.db_passwd;
  }
  return body;
}

/** Return the service's messages beside the fields of the form, and those about anything else in one text. */
export function refusedFields(
  type: string,
  fields: Readonly<Record<string, string>>,
  message: string
): [TapProblems, string | null] {
  const shown: readonly string[] = ['name', 'db_type', ...fieldsOf(type)];
  const beside = Object.entries(fields).filter(([field]) => shown.includes(field));
  return [Object.fromEntries(beside), beside.length > 0 ? null : message];
}
