import type { ICommand, ITimes } from './commands';
import type { IPagingInfo, Schemas, Sent, With } from './contract';
import type { INote } from './notes';

/** The unit of `frequency`. */
export type TimeUnit = Schemas['TimeUnit'];

/** RUNNING ⇄ SUSPENDED → DONE or KILLED. */
export type ScheduleStatus = Schemas['ScheduleStatus'];

/** The possible changes of a schedule's status. */
export type ScheduleChange = NonNullable<Schemas['ScheduleUpdate']['status']>;

/** The value of a notebook's parameter. */
export type ArgumentValue = string | number | boolean;

/** Values by the name of their parameter. */
export type Arguments = { [name: string]: ArgumentValue };

/** The types of a notebook's arguments. */
export type ArgumentType = 'str' | 'int' | 'float' | 'bool';

/** The part of a notebook that declares parameters. */
export interface IDeclaringNotebook {
  cells: { cell_type: string; source: string | string[]; metadata?: { tags?: unknown } }[];
  metadata: { kernelspec?: unknown; language_info?: unknown };
}

/** A parameter as the server reads it from a notebook; `type` and `text` are null where `code` is no literal. */
export interface IDeclaredParameter {
  name: string;
  code: string;
  type: ArgumentType | null;
  text: string | null;
}

/** The parameters that a notebook declares; `problem` says why its cell of them cannot be read. */
export interface IDeclaredParameters {
  parameters: IDeclaredParameter[];
  problem: string | null;
}

/** One unit and its count, as `{ days: 1 }`. */
export type Interval = { [unit in TimeUnit]?: number | string };

/** Whole numbers of a dependency may be sent as texts. */
interface IWindow {
  window_start?: number | string;
  window_end?: number | string;
  interval?: Interval | null;
}

/** Files that must exist before an action runs; `path` is a strftime mask. */
export type IFileDependency = With<Schemas['FileDependency'], IWindow>;

/** Partitions of a Hive table that must exist before an action runs. */
export type IHiveTableDependency = With<Schemas['HiveTableDependency'], IWindow>;

/** What must exist before an action runs. */
export type IDependencyInfo = With<
  Schemas['DependencyInfo'],
  { files?: IFileDependency[]; hive_tables?: IHiveTableDependency[] }
>;

/** The recipients of notifications; the digest's time is in the schedule's zone. */
export type INotification = Schemas['Notification'];

/** The command of a notebook's or note's schedule; `retry_delay` is in minutes. */
export interface INotebookCommand {
  path?: string;
  note_id?: number | null;
  /** Of a note, the service sends the JSON text of an object. */
  arguments?: Arguments | string | null;
  retry?: number | null;
  retry_delay?: number | null;
  upload_to_source?: boolean;
  [other: string]: unknown;
}

/** The newest action of a schedule; `nominal_time` is ISO 8601 UTC. */
export type ILastAction = Sent<Schemas['LastAction'], 'query_hist_id'>;

/** A run under way that is late, or takes long; times are ISO 8601 UTC. */
export type IRunAlert = Schemas['RunAlert'];

/** A schedule. Times are `YYYY-MM-DD HH:MM` in its own `time_zone`, `command_timeout` is in seconds. */
export type IScheduleRecord = With<
  Sent<
    Schemas['ScheduleRecord'],
    | 'start_time'
    | 'end_time'
    | 'frequency'
    | 'cron_expression'
    | 'time_zone'
    | 'time_out'
    | 'command_timeout'
    | 'concurrency'
    | 'no_catch_up'
    | 'label'
    | 'next_materialized_time'
  >,
  {
    command: INotebookCommand;
    time_unit: TimeUnit | null;
    dependency_info: IDependencyInfo;
    notification?: INotification | null;
    last_action?: ILastAction | null;
  }
>;

/** A list of schedules, newest first. */
export interface IScheduleList {
  schedules: IScheduleRecord[];
  paging_info: IPagingInfo;
}

/** The schedules of a notebook of the Jupyter server, and the note that it is saved to, or null. */
export interface INotebookScheduleList {
  schedules: IScheduleRecord[];
  note: INote | null;
}

/** One nominal time of a schedule, or a rerun of it. */
export type IActionRecord = With<
  Sent<Schemas['ActionRecord'], 'rerun_number' | 'is_rerun_of' | 'query_hist_id'>,
  { dependencies: Required<Schemas['Dependencies']>; command?: ICommand | null }
>;

/** The newest run by hand of each schedule that has one. */
export interface IByHandList {
  runs: { schedule_id: number; command: ICommand }[];
}

/** A run of any schedule: an action, or a run by hand, which has neither `action_id` nor `nominal_time`. */
export interface IRecentRun extends ITimes {
  schedule_id: number;
  action_id: number | null;
  command_id: number | null;
  /** The name of its command; null before there is one. */
  name: string | null;
  nominal_time: string | null;
  rerun_number: number;
  status: string;
  done: boolean;
  message: string | null;
  created_at: string;
}

/** The runs of all schedules in the last eight days, newest first; `is_complete` is false when there are more. */
export interface IRecentRuns {
  runs: IRecentRun[];
  is_complete: boolean;
}

/** A cell of two compared notebooks: its lines side by side, null where one has none. */
export interface IComparedCell {
  type: string;
  is_same: boolean;
  source: [string | null, string | null][];
  outputs: [string | null, string | null][];
}

/** What differs between two notebooks. */
export interface IComparison {
  cells: IComparedCell[];
}

/** A page of actions, newest first. */
export interface IActionList {
  actions: IActionRecord[];
  paging_info: IPagingInfo;
}

/** The next times of a timetable, in words and as a list (ISO 8601 UTC). */
export type ISchedulePreview = Omit<Schemas['Preview'], 'macros'>;

/** A destination of notifications. */
export type INotificationChannel = Schemas['NotificationChannel'];

/** A page of channels. */
export interface INotificationChannelList {
  notification_channels: INotificationChannel[];
  paging_info: IPagingInfo;
}

/** Whether the service's copy runs the same as the saved notebook. */
export interface ICopyState {
  path: string;
  is_current: boolean;
}

/** What the Jupyter server adds to an answer for which it stored a copy of a notebook that was repaired for it. */
export interface ICopyAnswer {
  copy_message?: string | null;
}

/** The body of a schedule's creation or edit. */
export type IScheduleBody = With<
  Schemas['ScheduleUpdate'],
  { command?: INotebookCommand; dependency_info?: IDependencyInfo; notification?: INotification }
>;
