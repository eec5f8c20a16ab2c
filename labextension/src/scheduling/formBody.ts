import { JSONExt } from '@lumino/coreutils';
import type {
  IDependencyInfo,
  IFileDependency,
  IHiveTableDependency,
  IScheduleBody,
  IScheduleRecord,
  Interval,
  TimeUnit
} from '../service/records/schedules';
import { argumentsIn } from '../schedules/arguments';
import { clockOf, clockText, fieldText, isZone, momentOf, nextAt } from '../schedules/times';
import { cronOf, timesOf } from './cronTimes';
import { columnsOf, columnsText, tableNameOf } from './dependencies';
import type { IDependencyRow, IFormValues } from './formValues';
import { LONGEST_MINUTES, newValues } from './formValues';
import { argumentsOf, type IParameter, withArguments } from './parameters';

const MINUTE = 60;
/** In minutes. */
const DAY = 24 * 60;

/** Return the body of a creation; invalid numbers are sent as typed, for the service to refuse. */
export function bodyOf(values: IFormValues): IScheduleBody {
  const given = argumentsOf(values.parameters);
  const [digestHour, digestMinute] = clockOf(values.digestTime) ?? [0, 0];
  const dueBy = clockOf(values.dueBy);
  return {
    name: values.name.trim(),
    ...(values.label !== '' && { label: values.label }),
    ...timetableOf(values),
    time_zone: values.timeZone.trim(),
    no_catch_up: values.skipMissed,
    concurrency: numberOf(values.concurrency),
    retry: numberOf(values.retry),
    retry_delay: numberOf(values.retryDelay),
    ...(values.timeout.trim() !== '' && { command_timeout: secondsOf(values.timeout) }),
    time_out: numberOf(values.timeOut),
    command: { arguments: given },
    dependency_info: dependenciesOf(values),
    ...(dueBy && { due_by: clockText(...dueBy) }),
    ...(values.longerThan.trim() !== '' && { longer_than: numberOf(values.longerThan) }),
    notification: {
      is_digest: values.digest,
      digest_time_hour: digestHour,
      digest_time_minute: digestMinute,
      notify_failure: values.notifyFailure,
      notify_success: values.notifySuccess,
      notification_channels: values.channels
    }
  };
}

/**
 * Return the timetable; `start_time` is omitted with a cron expression, which ignores it. Times that are none are an empty
 * expression, which has no next run.
 */
export function timetableOf(values: IFormValues): IScheduleBody {
  const end = values.end.trim() === '' ? {} : { end_time: spaced(values.end) };
  if (values.timing !== 'interval') {
    const expression = values.timing === 'times' ? (cronOf(values) ?? '') : values.cron.trim();
    return { cron_expression: expression, ...end };
  }
  const start = startOf(values, new Date());
  return {
    frequency: numberOf(values.every),
    time_unit: values.unit,
    ...(start !== '' && { start_time: start }),
    ...end
  };
}

/** Return when an interval starts, `2026-11-22 09:00`; empty for now. */
function startOf({ at, every, start, timeZone, unit }: IFormValues, now: Date): string {
  const clock = clockOf(at);
  const time = clock ? clockText(...clock) : at.trim();
  if (clock && start.trim() === '') {
    return nextAt(now, isZone(timeZone) ? timeZone : 'UTC', time, stepFrom(every, unit));
  }
  return `${start.trim()} ${time}`.trim();
}

/** Return the minutes from one time of day at which an interval can start to the next: a day at most. */
function stepFrom(every: string, unit: TimeUnit): number {
  const minutes = { minutes: 1, hours: 60, days: DAY, weeks: DAY, months: DAY }[unit];
  const count = Number(every);
  return Number.isInteger(count) && count > 0 ? Math.min(DAY, count * minutes) : DAY;
}

function dependenciesOf(values: IFormValues): IDependencyInfo {
  const step = { [values.stepUnit]: numberOf(values.stepEvery) };
  const isStepShown = values.timing !== 'interval';
  const common = <T extends Dependency>(row: IDependencyRow<T>) => ({
    ...row.stored,
    window_start: numberOf(row.windowStart),
    window_end: numberOf(row.windowEnd),
    ...(isStepShown && !row.hasOwnStep && { interval: step })
  });
  const files = values.files.map((row): IFileDependency => {
    const flag = row.doneFlag.trim();
    return { ...common(row), path: row.path.trim(), ...(flag !== '' && { done_flag: flag }) };
  });
  const tables = values.tables.map((row): IHiveTableDependency => {
    const { schema, name } = tableNameOf(row.table);
    const stored = row.stored?.columns;
    const isUntouched = stored !== undefined && columnsText(stored) === row.columns;
    return { ...common(row), schema, name, columns: isUntouched ? stored : columnsOf(row.columns) };
  });
  return { files, hive_tables: tables };
}

/** Return a number, or the text itself if it is not one: the service reports it in its own words. */
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
  return field.trim().replace('T', ' ');
}

/** Return the form values for editing a schedule. */
export function valuesOf(record: IScheduleRecord, declared: IParameter[]): IFormValues {
  const zone = record.time_zone;
  const field = (text: string | null): string => {
    const moment = momentOf(text, zone);
    return moment ? fieldText(moment, zone) : '';
  };
  const parameters = withArguments(declared, argumentsIn(record.command));
  const files = record.dependency_info.files ?? [];
  const tables = record.dependency_info.hive_tables ?? [];
  const step = stepOf([...files, ...tables]);
  const [stepUnit, stepEvery] = Object.entries(step)[0] ?? ['days', 1];
  const told = record.notification ?? {};
  const times = timesOf(record.cron_expression ?? '');
  const [start = '', at = ''] = field(record.start_time).split(' ');
  return {
    ...newValues(record.name, zone, at, parameters),
    start,
    label: record.has_label === false ? '' : (record.label ?? ''),
    ...times,
    timing: times ? 'times' : record.cron_expression ? 'cron' : 'interval',
    every: String(record.frequency ?? 1),
    unit: record.time_unit ?? 'days',
    cron: record.cron_expression ?? '',
    end: field(record.end_time),
    retry: String(record.retry ?? record.command.retry ?? 0),
    retryDelay: String(record.retry_delay ?? record.command.retry_delay ?? 1),
    timeout: timeoutText(record.command_timeout),
    concurrency: String(record.concurrency),
    skipMissed: record.no_catch_up,
    timeOut: String(record.time_out ?? 0),
    files: files.map(({ path, done_flag, ...rest }) => ({
      path,
      doneFlag: done_flag ?? '',
      ...rowOf(rest, record, step)
    })),
    tables: tables.map(({ schema, name, ...rest }) => ({
      table: `${schema}.${name}`,
      columns: columnsText(rest.columns),
      ...rowOf(withoutFilledIn(rest, zone), record, step)
    })),
    stepEvery: String(stepEvery),
    stepUnit: stepUnit as IFormValues['stepUnit'],
    dueBy: record.due_by ?? '',
    longerThan: String(record.longer_than ?? ''),
    notifyFailure: told.notify_failure ?? false,
    notifySuccess: told.notify_success ?? false,
    digest: told.is_digest ?? false,
    digestTime: clockText(told.digest_time_hour ?? 0, told.digest_time_minute ?? 0),
    channels: told.notification_channels ?? []
  };
}

type Dependency = IFileDependency | IHiveTableDependency;

/** Return the visible values of a dependency's window, and the values to send along. */
function rowOf<T extends Partial<Dependency>>(
  { window_start, window_end, interval, ...stored }: T,
  record: IScheduleRecord,
  step: Interval
): Required<IDependencyRow<T>> {
  const hasOwnStep = !!interval && !JSONExt.deepEqual(interval, step);
  const isShown = !!record.cron_expression && !hasOwnStep;
  return {
    windowStart: String(window_start ?? 0),
    windowEnd: String(window_end ?? 0),
    stored: { ...stored, ...(interval && !isShown && { interval }) } as Partial<T>,
    hasOwnStep
  };
}

/** Drop values that the service filled in for absent ones: with them, the dependency would not follow the schedule. */
function withoutFilledIn<T extends Partial<IHiveTableDependency>>(table: T, zone: string): T {
  const { initial_instance, time_zone, ...rest } = table;
  return {
    ...rest,
    ...(initial_instance && { initial_instance }),
    ...(time_zone && time_zone !== zone && { time_zone })
  } as T;
}

function stepOf(entries: Dependency[]): Interval {
  return entries.find(one => one.interval)?.interval ?? { days: 1 };
}

/** Return a time limit in minutes; empty for the service's default, which a record names as well. */
function timeoutText(seconds: string | number | null): string {
  const minutes = seconds === null ? LONGEST_MINUTES : Number(seconds) / MINUTE;
  return minutes === LONGEST_MINUTES ? '' : String(minutes);
}
