import type { IScheduleRecord } from '../service/records/schedules';
import type { IRun } from './runs';
import type { Step } from './steps';

/** The steps in the detail of a schedule. All reject with `ServiceError`. */
export interface IDetailSteps {
  step: (step: Step, schedule: IScheduleRecord) => Promise<void>;
  rerun: (run: IRun, schedule: IScheduleRecord) => Promise<void>;
  /** Asks for confirmation first. */
  cancel: (run: IRun, schedule: IScheduleRecord) => Promise<void>;
  openPage: (run: IRun, schedule: IScheduleRecord) => Promise<void>;
  openCopy: (run: IRun, schedule: IScheduleRecord) => Promise<void>;
  /** Show what differs from the notebook of another run: of the first of `others` at first. */
  compare: (run: IRun, others: readonly IRun[], schedule: IScheduleRecord) => Promise<void>;
  openCommand: (run: IRun) => Promise<void>;
  /** Show what differs between the saved notebook and what its schedules run, which can be replaced there. */
  updateCopy: (notebook: string) => Promise<void>;
  /** Open the menu of the rarer steps at a position of the page. */
  menu: (schedule: IScheduleRecord, x: number, y: number) => void;
}
