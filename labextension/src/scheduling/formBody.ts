import type {
  IDependencyInfo,
  IFileDependency,
  IHiveTableDependency,
  IScheduleBody,
  IScheduleRecord,
  Interval
} from '../service/records/schedules';
import { fieldText, momentOf } from '../schedules/times';
import { columnsOf, columnsText, tableNameOf } from './dependencies';
import type { IFormValues } from './formValues';
import { newValues } from './formValues';
import { argumentsOf, type IParameter, withArguments } from './parameters';

const MINUTE = 60;

/** Return the body of a creation; numbers that are none stand as they were typed, for the service to refuse. */
export function bodyOf(values: IFormValues): IScheduleBody {
  const given = argumentsOf(values.parameters);
  return {
    name: values.name.trim(),
    ...(values.label !== '' && { label: values.label }),
    ...timetableOf(values),
    time_zone: values.timeZone,
    no_catch_up: values.skipMissed,
    concurrency: numberOf(values.concurrency),
    retry: numberOf(values.retry),
    retry_delay: numberOf(values.retryDelay),
    ...(values.timeout.trim() !== '' && { command_timeout: secondsOf(values.timeout) }),
    time_out: numberOf(values.timeOut),
    command: { arguments: given },
    dependency_info: dependenciesOf(values),
    notification: {
      is_digest: values.digest,
      digest_time_hour: numberOf(values.digestTime.slice(0, 2)),
      digest_time_minute: numberOf(values.digestTime.slice(3, 5)),
      notify_failure: values.notifyFailure,
      notify_success: values.notifySuccess,
      notification_channels: values.channels
    }
  };
}

/** Return when it is to run; `start_time` is not sent with a cron expression, which does not look at it. */
export function timetableOf(values: IFormValues): IScheduleBody {
  const end = values.end === '' ? {} : { end_time: spaced(values.end) };
  if (values.timing === 'cron') {
    return { cron_expression: values.cron.trim(), ...end };
  }
  const start = values.start === '' ? {} : { start_time: spaced(values.start) };
  return { frequency: numberOf(values.every), time_unit: values.unit, ...start, ...end };
}

function dependenciesOf(values: IFormValues): IDependencyInfo {
  const interval: { interval?: Interval } =
    values.timing === 'cron' ? { interval: { [values.stepUnit]: numberOf(values.stepEvery) } } : {};
  const window = (row: {
    windowStart: string;
    windowEnd: string;
  }): { window_start: number; window_end: number } => ({
    window_start: numberOf(row.windowStart),
    window_end: numberOf(row.windowEnd)
  });
  const files = values.files.map((row): IFileDependency => {
    const flag = row.doneFlag.trim();
    return {
      path: row.path.trim(),
      ...(flag !== '' && { done_flag: flag }),
      ...window(row),
      ...interval
    };
  });
  const tables = values.tables.map((row): IHiveTableDependency => {
    const { schema, name } = tableNameOf(row.table);
    return { schema, name, columns: columnsOf(row.columns), ...window(row), ...interval };
  });
  return { files, hive_tables: tables };
}

/** Return a number, or the text itself where it is none: the service says so in its own words. */
function numberOf(text: string): number {
  const trimmed = text.trim();
  return trimmed !== '' && Number.isFinite(Number(trimmed))
    ? Number(trimmed)
    : (trimmed as unknown as number);
}

function secondsOf(minutes: string): number {
  const number = numberOf(minutes);
  return typeof number === 'number' ? MINUTE * number : number;
}

function spaced(field: string): string {
  return field.replace('T', ' ');
}

/** Return the values of the form that edits a schedule. */
export function valuesOf(record: IScheduleRecord, declared: IParameter[]): IFormValues {
  const zone = record.time_zone;
  const field = (text: string | null): string => {
    const moment = momentOf(text, zone);
    return moment ? fieldText(moment, zone) : '';
  };
  const parameters = withArguments(declared, record.command.arguments);
  const files = record.dependency_info.files ?? [];
  const tables = record.dependency_info.hive_tables ?? [];
  const [stepUnit, stepEvery] = stepOf([...files, ...tables]);
  const told = record.notification ?? {};
  return {
    ...newValues(record.name, zone, field(record.start_time), parameters),
    label: record.label ?? '',
    timing: record.cron_expression ? 'cron' : 'interval',
    every: String(record.frequency ?? 1),
    unit: record.time_unit ?? 'days',
    cron: record.cron_expression ?? '',
    end: field(record.end_time),
    retry: String(record.retry ?? record.command.retry ?? 0),
    retryDelay: String(record.retry_delay ?? record.command.retry_delay ?? 1),
    timeout: record.command_timeout === null ? '' : minutesText(Number(record.command_timeout)),
    concurrency: String(record.concurrency),
    skipMissed: record.no_catch_up,
    timeOut: String(record.time_out ?? 0),
    files: files.map(one => ({ path: one.path, doneFlag: one.done_flag ?? '', ...windowOf(one) })),
    tables: tables.map(one => ({
      table: `${one.schema}.${one.name}`,
      columns: columnsText(one.columns),
      ...windowOf(one)
    })),
    stepEvery,
    stepUnit,
    notifyFailure: told.notify_failure ?? false,
    notifySuccess: told.notify_success ?? false,
    digest: told.is_digest ?? false,
    digestTime: clockText(told.digest_time_hour ?? 0, told.digest_time_minute ?? 0),
    channels: told.notification_channels ?? []
  };
}

type Dependency = IFileDependency | IHiveTableDependency;

function windowOf(one: Dependency): { windowStart: string; windowEnd: string } {
  return { windowStart: String(one.window_start ?? 0), windowEnd: String(one.window_end ?? 0) };
}

function stepOf(entries: Dependency[]): [IFormValues['stepUnit'], string] {
  const interval = entries.find(one => one.interval)?.interval ?? {};
  const [unit, every] = Object.entries(interval)[0] ?? ['days', 1];
  return [unit as IFormValues['stepUnit'], String(every)];
}

function minutesText(seconds: number): string {
  return String(seconds / MINUTE);
}

function clockText(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
