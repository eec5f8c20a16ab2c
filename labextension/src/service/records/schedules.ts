import type { IPagingInfo } from './paging';

/** What `frequency` counts. */
export type TimeUnit = 'minutes' | 'hours' | 'days' | 'weeks' | 'months';

/** RUNNING ⇄ SUSPENDED → DONE or KILLED. */
export type ScheduleStatus = 'RUNNING' | 'SUSPENDED' | 'DONE' | 'KILLED';

/** What may be asked of a schedule's state. */
export type ScheduleChange = 'suspend' | 'resume' | 'kill';

/** The value of a notebook's parameter. */
export type ArgumentValue = string | number | boolean;

/** One unit and how many of it, as `{ days: 1 }`. */
export type Interval = { [unit in TimeUnit]?: number | string };

/** Files that must be there before an action runs; `path` is a strftime mask. */
export interface IFileDependency {
  id?: string;
  path: string;
  window_start?: number | string;
  window_end?: number | string;
  done_flag?: string | null;
  interval?: Interval | null;
}

/** Partitions of a Hive table that must be there before an action runs. */
export interface IHiveTableDependency {
  schema: string;
  name: string;
  window_start?: number | string;
  window_end?: number | string;
  interval?: Interval | null;
  columns: { [column: string]: string | string[] };
}

/** What must be there before an action runs. */
export interface IDependencyInfo {
  files?: IFileDependency[];
  hive_tables?: IHiveTableDependency[];
}

/** Who is told of runs; the digest's time is in the schedule's zone. */
export interface INotification {
  is_digest?: boolean;
  digest_time_hour?: number;
  digest_time_minute?: number;
  notify_failure?: boolean;
  notify_success?: boolean;
  notification_channels?: number[];
}

/** What a schedule of a notebook runs; `retry_delay` is in minutes. */
export interface INotebookCommand {
  path?: string;
  arguments?: { [name: string]: ArgumentValue } | null;
  retry?: number | null;
  retry_delay?: number | null;
  upload_to_source?: boolean;
  [other: string]: unknown;
}

/** The newest action of a schedule; `nominal_time` is ISO 8601 UTC. */
export interface ILastAction {
  id: number;
  sequence_id: number;
  nominal_time: string;
  done: boolean;
  status: string;
  query_hist_id: number | null;
  message?: string | null;
}

/** A schedule. Times are `YYYY-MM-DD HH:MM` in its own `time_zone`. */
export interface IScheduleRecord {
  id: number;
  name: string;
  status: ScheduleStatus;
  command_type: string;
  command: INotebookCommand;
  start_time: string | null;
  end_time: string | null;
  frequency: number | null;
  time_unit: TimeUnit | null;
  cron_expression: string | null;
  time_zone: string;
  /** Minutes that an action waits for its dependencies. */
  time_out: number | null;
  /** Seconds. */
  command_timeout: number | string | null;
  concurrency: number;
  no_catch_up: boolean;
  label: string | null;
  dependency_info: IDependencyInfo;
  next_materialized_time: string | null;
  retry?: number | null;
  /** Minutes. */
  retry_delay?: number | null;
  notification?: INotification | null;
  /** When it runs, in words; not every service tells it. */
  description?: string | null;
  /** Only in lists, and not of every service. */
  last_action?: ILastAction | null;
}

/** A list of schedules, newest first; those of one notebook come without paging. */
export interface IScheduleList {
  schedules: IScheduleRecord[];
  paging_info?: IPagingInfo;
}

/** One nominal time of a schedule, or a rerun of it. */
export interface IActionRecord extends ILastAction {
  periodic_job_id: number;
  rerun_number: number;
  is_rerun_of: number | null;
  dependencies: { found: string[]; not_found: string[] };
  created_at: string;
}

/** A page of actions, newest first. */
export interface IActionList {
  actions: IActionRecord[];
  paging_info: IPagingInfo;
}

/** When a timetable would run, in words and as the next times (ISO 8601 UTC). */
export interface ISchedulePreview {
  command: { [name: string]: unknown };
  description?: string | null;
  next_times?: string[] | null;
}

/** Where messages of runs may go. */
export interface INotificationChannel {
  id: number;
  name: string;
  type: string;
  target: string;
  warning?: string | null;
}

/** A page of channels. */
export interface INotificationChannelList {
  notification_channels: INotificationChannel[];
  paging_info: IPagingInfo;
}

/** Whether the service's copy runs what the saved notebook would. */
export interface ICopyState {
  path: string;
  is_current: boolean;
}

/** What a schedule's creation and edit hold. */
export interface IScheduleBody {
  name?: string;
  label?: string;
  frequency?: number;
  time_unit?: TimeUnit;
  cron_expression?: string;
  start_time?: string;
  end_time?: string;
  time_zone?: string;
  no_catch_up?: boolean;
  concurrency?: number;
  time_out?: number;
  command_timeout?: number;
  retry?: number;
  retry_delay?: number;
  command?: INotebookCommand;
  dependency_info?: IDependencyInfo;
  notification?: INotification;
}
