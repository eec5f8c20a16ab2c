import { Token } from '@lumino/coreutils';
import type { Resource } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import type { ScheduleCalls } from './calls';
import type { NotebookSchedules } from './notebookSchedules';
import type { IListedSchedule } from './words';

/** State shared by the features about schedules. */
export interface ISvcSchedules {
  readonly calls: ScheduleCalls;
  /** All schedules, in display order; polled while a view shows them. */
  readonly all: Resource<IListedSchedule[]>;
  /** The schedules of the open notebooks. */
  readonly ofNotebooks: NotebookSchedules;
  /** Show a schedule as the service has just answered it, before anything is read again. */
  show(schedule: IScheduleRecord): void;
  /** Report a change: all visible data is read again. */
  changed(): void;
}

/** State shared by the features about schedules. */
export const ISvcSchedules = new Token<ISvcSchedules>(
  'svc-jupyter-labextension:ISvcSchedules',
  'The schedules of the data-processing service.'
);

/** The commands about schedules; those below the first three take `{id: number}`. */
export const ScheduleCommands = {
  /** `{path?: string, schedule?: number}`; without either, for the current notebook. */
  schedule: 'svc-jupyter:schedule-notebook',
  scheduleSelected: 'svc-jupyter:schedule-selected-notebook',
  scheduleChosen: 'svc-jupyter:schedule-chosen-notebook',
  open: 'svc-jupyter:open-schedule',
  edit: 'svc-jupyter:edit-schedule',
  run: 'svc-jupyter:run-schedule',
  suspend: 'svc-jupyter:suspend-schedule',
  resume: 'svc-jupyter:resume-schedule',
  kill: 'svc-jupyter:kill-schedule'
} as const;
