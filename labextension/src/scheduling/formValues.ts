import type { IFileDependency, IHiveTableDependency, TimeUnit } from '../service/records/schedules';
import type { ICronTimes } from './cronTimes';
import type { IParameter } from './parameters';

/** The common part of dependency rows; `T` is the service's form of a dependency. */
export interface IDependencyRow<T> {
  windowStart: string;
  windowEnd: string;
  /** Other values of the edited schedule's dependency, or values that the text cannot express; sent back unchanged. */
  stored?: Partial<T>;
  /** Whether its step is its own, not the form's. */
  hasOwnStep?: boolean;
}

/** A dependency on files, as typed. */
export interface IFileRow extends IDependencyRow<IFileDependency> {
  path: string;
  doneFlag: string;
}

/** A dependency on partitions of a Hive table, as typed; `columns` as `day=%Y-%m-%d, region=EU|US`. */
export interface ITableRow extends IDependencyRow<IHiveTableDependency> {
  table: string;
  columns: string;
}

/** The values of the form, as typed. They are kept over a reload and contain no secrets. */
export interface IFormValues extends ICronTimes {
  name: string;
  label: string;
  timing: 'interval' | 'times' | 'cron';
  every: string;
  unit: TimeUnit;
  cron: string;
  /** With an interval, the time of day that it is counted from, `09:00`; empty for now. */
  at: string;
  /** With an interval, the day that it is counted from, `2026-11-22`; empty for the next one with that time. */
  start: string;
  /** A date and a time of 24 hours, `2026-11-22 09:00`; empty for never. */
  end: string;
  timeZone: string;
  parameters: IParameter[];
  retry: string;
  /** Minutes. */
  retryDelay: string;
  /** Time limit of a run in minutes; empty for the service's default. */
  timeout: string;
  concurrency: string;
  skipMissed: boolean;
  files: IFileRow[];
  tables: ITableRow[];
  /** How long an action waits for its dependencies, in minutes. */
  timeOut: string;
  /** The step of the dependencies' windows; needed with times and with a cron expression, which have none. */
  stepEvery: string;
  stepUnit: TimeUnit;
  /** An alert when a run has not ended by then: a time of 24 hours, `08:00`; empty for none. */
  dueBy: string;
  /** An alert when a run takes this many times the median; empty for none. */
  longerThan: string;
  notifyFailure: boolean;
  notifySuccess: boolean;
  digest: boolean;
  /** A time of 24 hours, `18:30`. */
  digestTime: string;
  channels: number[];
}

/** The names of the form's fields, for problems. */
export type FieldName = keyof IFormValues;

/** The service's time limit of a run, 36 hours, in minutes. */
export const LONGEST_MINUTES = 2160;

const DEFAULTS = {
  label: '',
  timing: 'interval',
  every: '1',
  unit: 'days',
  times: '09:00',
  monthDays: '',
  cron: '',
  start: '',
  end: '',
  retry: '0',
  retryDelay: '1',
  timeout: '',
  concurrency: '1',
  skipMissed: false,
  timeOut: '600',
  stepEvery: '1',
  stepUnit: 'days',
  dueBy: '',
  longerThan: '',
  notifyFailure: false,
  notifySuccess: false,
  digest: false,
  digestTime: '00:00'
} as const;

/** Return the form values of a new schedule, from a time of day on. */
export function newValues(
  name: string,
  timeZone: string,
  at: string,
  parameters: IParameter[]
): IFormValues {
  return {
    ...DEFAULTS,
    name,
    timeZone,
    at,
    parameters,
    weekdays: [],
    files: [],
    tables: [],
    channels: []
  };
}

/** Return a valid schedule name for a notebook: its file name without characters that the service refuses. */
export function nameFrom(path: string): string {
  const file = path.split('/').pop() ?? path;
  return file
    .replace(/\.ipynb$/, '')
    .replace(/[&<>"'\p{Cc}]/gu, '_')
    .slice(0, 255);
}
