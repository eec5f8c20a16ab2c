import { Token } from '@lumino/coreutils';
import type { Resource } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import type { ScheduleCalls } from './calls';
import type { NotebookSchedules } from './notebookSchedules';

/** What the features about schedules share. */
export interface ISvcSchedules {
  readonly calls: ScheduleCalls;
  /** All schedules, in the order in which they want to be seen; read while something shows them. */
  readonly all: Resource<IScheduleRecord[]>;
  /** The schedules of the notebooks that are open. */
  readonly ofNotebooks: NotebookSchedules;
  /** Something was changed: whatever is shown is read again. */
  changed(): void;
}

/** What the features about schedules share. */
export const ISvcSchedules = new Token<ISvcSchedules>(
  'svc-jupyter-labextension:ISvcSchedules',
  'The schedules of the data-processing service.'
);

/** The commands about schedules; all but the first take `{id: number}`. */
export const ScheduleCommands = {
  /** `{path?: string, schedule?: number}`; without either of the notebook that is looked at. */
  schedule: 'svc-jupyter:schedule-notebook',
  scheduleSelected: 'svc-jupyter:schedule-selected-notebook',
  open: 'svc-jupyter:open-schedule',
  edit: 'svc-jupyter:edit-schedule',
  run: 'svc-jupyter:run-schedule',
  suspend: 'svc-jupyter:suspend-schedule',
  resume: 'svc-jupyter:resume-schedule',
  kill: 'svc-jupyter:kill-schedule'
} as const;
