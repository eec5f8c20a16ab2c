import type { TranslationBundle } from '@jupyterlab/translation';
import type { ServiceError } from '../service';
import type { FieldName, IFormValues } from './formValues';
import { type IParameter, valueOf } from './parameters';

/** Problems by the field that shows them; `form` is for those without a field. */
export type Problems = { readonly [field in FieldName | 'form']?: string };

/** Maps the service's attributes to the form's fields. */
const FIELDS: Readonly<Record<string, FieldName>> = {
  name: 'name',
  // eslint-disable-next-line jupyter/no-untranslated-string -- an attribute's name
  label: 'label',
  frequency: 'every',
  time_unit: 'unit',
  cron_expression: 'cron',
  start_time: 'start',
  end_time: 'end',
  time_zone: 'timeZone',
  retry: 'retry',
  retry_delay: 'retryDelay',
  command_timeout: 'timeout',
  concurrency: 'concurrency',
  no_catch_up: 'skipMissed',
  time_out: 'timeOut',
  arguments: 'parameters'
};
const VARIABLE = /^[A-Za-z_]\w{0,254}$/;

/** Return the service's messages by field. */
export function problemsIn(error: ServiceError): Problems {
  const told = Object.entries(error.fields);
  if (told.length === 0) {
    return { form: error.message };
  }
  const problems: { [field in FieldName | 'form']?: string } = {};
  for (const [path, words] of told) {
    const field = fieldOf(path.split('.'));
    const text = field === 'form' ? `${path}: ${words}` : words;
    problems[field] = problems[field] === undefined ? text : `${problems[field]}; ${text}`;
  }
  return problems;
}

function fieldOf([attribute = '', part = '']: readonly string[]): FieldName | 'form' {
  switch (attribute) {
    case 'dependency_info':
      return part === 'hive_tables' ? 'tables' : 'files';
    case 'notification':
      return part.startsWith('digest') || part === 'is_digest' ? 'digest' : 'channels';
    case 'command':
      return part === '' ? 'parameters' : (FIELDS[part] ?? 'form');
    default:
      return FIELDS[attribute] ?? 'form';
  }
}

/** Return problems that the service cannot check, since the values cannot be sent: invalid parameters. */
export function ownProblems(trans: TranslationBundle, values: IFormValues): Problems {
  const parameters = parameterProblem(trans, values.parameters);
  return parameters === null ? {} : { parameters };
}

function parameterProblem(
  trans: TranslationBundle,
  parameters: readonly IParameter[]
): string | null {
  const names = new Set<string>();
  for (const parameter of parameters) {
    if (!VARIABLE.test(parameter.name)) {
      return parameter.name === ''
        ? trans.__('A parameter needs a name.')
        : trans.__(
            '%1 is not a variable name (letters, digits and _, not first a digit).',
            parameter.name
          );
    }
    if (names.has(parameter.name)) {
      return trans.__('%1 is there twice.', parameter.name);
    }
    names.add(parameter.name);
    if (valueOf(parameter) === undefined) {
      return trans.__(
        '%1: %2 is not of the type %3.',
        parameter.name,
        parameter.text || '“”',
        parameter.type
      );
    }
  }
  return null;
}
