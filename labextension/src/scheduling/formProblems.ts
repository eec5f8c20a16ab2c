import type { TranslationBundle } from '@jupyterlab/translation';
import { clocksIn, crossed, monthDaysIn } from './cronTimes';
import { clockOf, isFieldText, isZone } from '../schedules/times';
import type { ServiceError } from '../service';
import type { FieldName, IFormValues } from './formValues';
import { LABELLED_FIELDS } from './labels';
import { type IParameter, isOwn, valueOf } from './parameters';

/** The lists of rows in the form. */
type RowList = 'files' | 'tables' | 'parameters';

/** A place that shows a problem: a field, a field of a row such as `tables.0.columns`, or the form as a whole. */
export type ProblemKey = FieldName | 'form' | `${RowList}.${number}.${string}`;

/** Problems by the place that shows them. */
export type Problems = { readonly [key in ProblemKey]?: string };

type MutableProblems = { -readonly [key in ProblemKey]?: string };

/** Maps the service's attributes to the form's fields. */
const FIELDS: Readonly<Record<string, FieldName>> = {
  ...LABELLED_FIELDS,
  no_catch_up: 'skipMissed',
  arguments: 'parameters'
};
const ROW_FIELDS: Readonly<Record<string, string>> = {
  path: 'path',
  done_flag: 'doneFlag',
  schema: 'table',
  name: 'table',
  columns: 'columns',
  window_start: 'windowStart',
  window_end: 'windowEnd'
};
const VARIABLE = /^[A-Za-z_]\w{0,254}$/;

/** The rows of the form that a body contains, by their numbers in it. */
export interface ISentRows {
  files: readonly number[];
  tables: readonly number[];
}

/** Return the rows with everything that a dependency needs; others are not sent for a preview. */
export function completeRows({ files, tables }: IFormValues): ISentRows {
  const complete = <T>(rows: readonly T[], isComplete: (row: T) => boolean): number[] =>
    rows.flatMap((row, number) => (isComplete(row) ? [number] : []));
  return {
    files: complete(files, row => row.path.trim() !== ''),
    tables: complete(tables, row => row.table.trim() !== '' && row.columns.includes('='))
  };
}

/**
 * Return what a refusal marks, in the form's own words: a service's text is about attributes that the form does not
 * show. A refusal that names no known attribute is a problem of the form.
 *
 * @param values - The form's values that were refused.
 * @param rows - The rows that the refused body contained; all of them if absent.
 */
export function problemsIn(
  trans: TranslationBundle,
  error: ServiceError,
  values: IFormValues,
  rows?: ISentRows
): Problems {
  const paths = Object.keys(error.fields);
  const named = /^[a-z_]+/.exec(error.message)?.[0] ?? '';
  if (paths.length === 0 && named in FIELDS) {
    paths.push(named);
  }
  if (paths.length === 0) {
    return { form: error.message };
  }
  const problems: MutableProblems = {};
  const others: string[] = [];
  for (const path of paths) {
    const key = keyOf(path.split('.'), values, rows);
    if (path === 'dependency_info') {
      // of all together: one of the two lists may have no row that could show it
      problems.files = wordsOf(trans, 'files');
      problems.tables = wordsOf(trans, 'tables');
    } else if (key === 'form') {
      others.push(path);
    } else {
      problems[key] = wordsOf(trans, key);
    }
  }
  if (others.includes('command.path')) {
    problems.form = trans.__(
      'The service cannot use the copy of the notebook. Save the notebook, then update the scheduled copy.'
    );
  } else if (others.length > 0) {
    problems.form = trans.__('The service does not accept values that this form does not show.');
  }
  return problems;
}

function keyOf(
  [attribute = '', part = '', row = '', name = '']: readonly string[],
  values: IFormValues,
  rows?: ISentRows
): ProblemKey {
  switch (attribute) {
    case 'dependency_info': {
      const list = part === 'hive_tables' ? 'tables' : 'files';
      const field = ROW_FIELDS[name];
      if (name === 'interval') {
        return 'stepEvery';
      }
      const number = rows ? rows[list][Number(row)] : Number(row);
      return field !== undefined && Number.isInteger(number)
        ? `${list}.${number ?? 0}.${field}`
        : list;
    }
    case 'notification':
      return part.startsWith('digest') || part === 'is_digest' ? 'digest' : 'channels';
    case 'cron_expression':
      if (values.timing !== 'times') {
        return 'cron';
      }
      return monthDaysIn(values.monthDays) === null ? 'monthDays' : 'times';
    case 'start_time':
      return isTime(values) ? 'start' : 'at';
    case 'command':
      return part === '' ? 'parameters' : (FIELDS[part] ?? 'form');
    default:
      return FIELDS[attribute] ?? 'form';
  }
}

/** Return what a field takes, in words. */
function wordsOf(trans: TranslationBundle, key: ProblemKey): string {
  const field = key.split('.').at(-1) ?? '';
  switch (field) {
    case 'name':
      return trans.__('A name has at most 255 characters and none of these: & < > " \'');
    case 'label':
      return trans.__('This cluster cannot run the notebook; choose another');
    case 'every':
    case 'stepEvery':
      return trans.__('Enter a whole number from 1');
    case 'times':
      return trans.__('Enter times of day, for example 09:00 or 09:00, 17:00');
    case 'monthDays':
      return trans.__('Enter days from 1 to 31, or “last”, for example 1, 15, last');
    case 'cron':
      return trans.__(
        'This is not a cron expression with a next run. Enter minute, hour, day, month and weekday, for example 0 9 * * 1-5'
      );
    case 'at':
      return trans.__('Enter a time of day, for example 09:00');
    case 'start':
      return trans.__('Enter a date, for example 2026-11-22');
    case 'end':
      return trans.__(
        'Enter a time that is later than the start and than the next run, or leave it empty for no end'
      );
    case 'timeZone':
      return trans.__('The service does not know this time zone; choose another');
    case 'retry':
      return trans.__('Choose 0 to 3 retries');
    case 'retryDelay':
      return trans.__('Enter whole minutes from 0 to 1,440');
    case 'timeout':
      return trans.__('Enter minutes up to 2,160 (36 hours)');
    case 'concurrency':
      return trans.__('Enter a whole number from 1 to 1,000');
    case 'timeOut':
      return trans.__('Enter whole minutes, 0 for no limit');
    case 'digest':
      return trans.__('Enter a time of day, for example 18:30');
    case 'dueBy':
      return trans.__('Enter a time of day, for example 08:00, or leave it empty for no alert');
    case 'longerThan':
      return trans.__('Enter a number from 1 to 1,000, or leave it empty for no alert');
    case 'channels':
      return trans.__('One of these channels does not exist any more');
    case 'path':
      return trans.__('Enter a path, for example sales/day=%Y-%m-%d/');
    case 'table':
      return trans.__('Enter a table, for example default.sales');
    case 'columns':
      return trans.__('Enter at least one partition column, for example day=%Y-%m-%d');
    case 'windowStart':
    case 'windowEnd':
      return trans.__('Enter a whole number; the last step must not be before the first');
    case 'files':
    case 'tables':
      return trans.__(
        'The service cannot wait for this; check the path, the columns and the steps'
      );
    case 'parameters':
      return trans.__('The notebook does not take these parameters; check names and values');
    default:
      return trans.__('The service does not accept this value');
  }
}

/**
 * Return problems that need no service: no name or timetable, texts that are no times, incomplete rows, parameters
 * that cannot be sent.
 */
export function ownProblems(trans: TranslationBundle, values: IFormValues): Problems {
  const problems: MutableProblems = {};
  const mark = (key: ProblemKey): void => {
    problems[key] = wordsOf(trans, key);
  };
  if (values.name.trim() === '') {
    problems.name = trans.__('Give the schedule a name');
  }
  if (values.timing === 'interval') {
    if (!isTime(values)) {
      mark('at');
    }
    if (values.start.trim() !== '' && !isFieldText(`${values.start.trim()} 00:00`)) {
      mark('start');
    }
  }
  if (values.end.trim() !== '' && !isFieldText(values.end)) {
    problems.end = trans.__('Enter a date and a time, for example 2026-11-22 09:00');
  }
  if (values.timing === 'cron' && values.cron.trim() === '') {
    mark('cron');
  }
  if (values.timing === 'times') {
    const clocks = clocksIn(values.times);
    if (!clocks) {
      mark('times');
    } else if (!crossed(clocks)) {
      problems.times = trans.__(
        'One schedule runs at the same minutes of each hour, for example 09:00, 17:00. Make another one for the other times'
      );
    }
    if (monthDaysIn(values.monthDays) === null) {
      mark('monthDays');
    }
  }
  if (!isZone(values.timeZone.trim())) {
    problems.timeZone = trans.__('There is no time zone “%1”', values.timeZone);
  }
  if (values.dueBy.trim() !== '' && clockOf(values.dueBy) === null) {
    mark('dueBy');
  }
  if (values.digest && clockOf(values.digestTime) === null) {
    mark('digest');
  }
  values.files.forEach((row, number) => row.path.trim() === '' && mark(`files.${number}.path`));
  values.tables.forEach((row, number) => {
    if (row.table.trim() === '') {
      mark(`tables.${number}.table`);
    }
    if (!row.columns.includes('=')) {
      mark(`tables.${number}.columns`);
    }
  });
  const names = new Set<string>();
  values.parameters.forEach((parameter, number) => {
    const [name, value] = parameterProblems(trans, parameter, names);
    names.add(parameter.name);
    if (name !== null) {
      problems[`parameters.${number}.name`] = name;
    }
    if (value !== null) {
      problems[`parameters.${number}.text`] = value;
    }
  });
  return problems;
}

/** Return whether an interval is counted from now: only for a new schedule, as a service keeps what it is not sent. */
export function isFromNow({ at, start }: IFormValues): boolean {
  return at.trim() === '' && start.trim() === '';
}

/** Return whether the time of day is one; a start on a certain day needs one, too. */
function isTime(values: IFormValues): boolean {
  return clockOf(values.at) !== null || isFromNow(values);
}

/** Return the problems of a parameter's name and of its value; null for none. */
function parameterProblems(
  trans: TranslationBundle,
  parameter: IParameter,
  others: ReadonlySet<string>
): [string | null, string | null] {
  const { name, text, type, own } = parameter;
  const value =
    !isOwn(parameter) && valueOf(parameter) === undefined
      ? trans.__('%1 is not of the type %2', text || '“”', type)
      : null;
  if (own !== null) {
    return [null, value]; // the notebook's name, which the form cannot change
  }
  if (name === '') {
    return [trans.__('A parameter needs a name'), value];
  }
  if (!VARIABLE.test(name)) {
    return [
      trans.__('%1 is not a variable name (letters, digits and _, not first a digit)', name),
      value
    ];
  }
  return [others.has(name) ? trans.__('There are two parameters %1', name) : null, value];
}

/** Return the places that a change of values touches. A row that was just added is not touched. */
export function touchedBy(before: IFormValues, changes: Partial<IFormValues>): ProblemKey[] {
  const touched: ProblemKey[] = [];
  for (const [field, value] of Object.entries(changes) as [FieldName, unknown][]) {
    const old = before[field];
    if (!isRowList(field) || !Array.isArray(value) || !Array.isArray(old)) {
      touched.push(field);
    } else if (value.length === old.length) {
      value.forEach((row: Record<string, unknown>, number) => {
        const former = old[number] as unknown as Record<string, unknown>;
        const names = Object.keys(row).filter(name => row[name] !== former[name]);
        touched.push(...names.map((name): ProblemKey => `${field}.${number}.${name}`));
      });
    }
  }
  return touched;
}

/** Return the lists whose rows a change adds or removes: what was known of their rows is of other rows now. */
export function resizedBy(before: IFormValues, changes: Partial<IFormValues>): RowList[] {
  const lists: RowList[] = ['files', 'tables', 'parameters'];
  return lists.filter(list => {
    const rows = changes[list];
    return rows !== undefined && rows.length < before[list].length;
  });
}

function isRowList(field: FieldName): field is RowList {
  return field === 'files' || field === 'tables' || field === 'parameters';
}
