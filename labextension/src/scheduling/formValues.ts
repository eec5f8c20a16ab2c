import type { TimeUnit } from '../service/records/schedules';
import type { IParameter } from './parameters';

/** A dependency on files, as it is typed. */
export interface IFileRow {
  path: string;
  doneFlag: string;
  windowStart: string;
  windowEnd: string;
}

/** A dependency on partitions of a Hive table, as it is typed; `columns` as `day=%Y-%m-%d, region=EU|US`. */
export interface ITableRow {
  table: string;
  columns: string;
  windowStart: string;
  windowEnd: string;
}

/** What stands in the form: texts as they were typed. It is kept over a reload, and holds no secret. */
export interface IFormValues {
  name: string;
  label: string;
  timing: 'interval' | 'cron';
  every: string;
  unit: TimeUnit;
  cron: string;
  /** As a `datetime-local` field has it, `2026-11-22T09:00`; empty is now. */
  start: string;
  /** The same; empty is never. */
  end: string;
  timeZone: string;
  parameters: IParameter[];
  retry: string;
  /** Minutes. */
  retryDelay: string;
  /** Minutes that a run may take; empty is the service's own limit. */
  timeout: string;
  concurrency: string;
  skipMissed: boolean;
  files: IFileRow[];
  tables: ITableRow[];
  /** Minutes that an action waits for its dependencies. */
  timeOut: string;
  /** The step of the dependencies' windows; asked for with a cron expression, which has none of its own. */
  stepEvery: string;
  stepUnit: TimeUnit;
  notifyFailure: boolean;
  notifySuccess: boolean;
  digest: boolean;
  digestTime: string;
  channels: number[];
}

/** The names of the form's fields, as problems are told of them. */
export type FieldName = keyof IFormValues;

/** The service's limit of a run, 36 hours, in minutes. */
export const LONGEST_MINUTES = 2160;

const DEFAULTS = {
  label: '',
  timing: 'interval',
  every: '1',
  unit: 'days',
  cron: '',
  end: '',
  retry: '0',
  retryDelay: '1',
  timeout: '',
  concurrency: '1',
  skipMissed: false,
  timeOut: '600',
  stepEvery: '1',
  stepUnit: 'days',
  notifyFailure: false,
  notifySuccess: false,
  digest: false,
  digestTime: '00:00'
} as const;

/** Return the values of a new schedule's form; `start` is the next full hour. */
export function newValues(
  name: string,
  timeZone: string,
  start: string,
  parameters: IParameter[]
): IFormValues {
  return { ...DEFAULTS, name, timeZone, start, parameters, files: [], tables: [], channels: [] };
}

/** Return a name for a notebook's schedule that the service takes: its file name without what is not allowed. */
export function nameFrom(path: string): string {
  const file = path.split('/').pop() ?? path;
  return file
    .replace(/\.ipynb$/, '')
    .replace(/[&<>"'\p{Cc}]/gu, '_')
    .slice(0, 255);
}
