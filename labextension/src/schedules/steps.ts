import type { TranslationBundle } from '@jupyterlab/translation';
import type { IQuestion } from '../panel';
import type { IScheduleRecord, ScheduleChange } from '../service/records/schedules';
import { forText, type IRun } from './runs';
import { nameOf } from './words';

/** The steps on a schedule. */
export type Step = ScheduleChange | 'edit' | 'run';

const OF_STATUS: Readonly<Record<IScheduleRecord['status'], readonly Step[]>> = {
  RUNNING: ['edit', 'run', 'suspend', 'kill'],
  SUSPENDED: ['edit', 'run', 'resume', 'kill'],
  DONE: ['run'],
  KILLED: ['run']
};

/** The location of the copies of notebooks that were scheduled here. */
const OWN_COPY = /^Users\/[^/]+\/Scheduled\/[0-9a-f]{12}-[0-9a-f]{16}\//;

/** Return the path of the notebook of a Jupyter server that a schedule runs a copy of; null for other commands. */
export function notebookOf(schedule: IScheduleRecord): string | null {
  const path = schedule.command.path ?? '';
  return OWN_COPY.test(path) ? path.replace(OWN_COPY, '') : null;
}

/** Return the steps possible in a schedule's status, in the order of a menu. */
export function stepsOf(schedule: IScheduleRecord): readonly Step[] {
  const { command } = schedule;
  const hasForm = schedule.command_type === 'JupyterNotebookCommand' || !!command.note_id;
  if (schedule.status === 'KILLED' && OWN_COPY.test(command.path ?? '')) {
    return []; // nothing else ran that copy, and it is removed
  }
  return OF_STATUS[schedule.status].filter(step => step !== 'edit' || hasForm);
}

/** Return the name of a step. */
export function stepLabel(trans: TranslationBundle, step: Step): string {
  const labels: Record<Step, string> = {
    edit: trans.__('Edit…'),
    run: trans.__('Run once now'),
    suspend: trans.__('Suspend'),
    resume: trans.__('Resume'),
    kill: trans.__('End…')
  };
  return labels[step];
}

/** Return the question before a step that cannot be undone; null for the others. */
export function questionOf(
  trans: TranslationBundle,
  step: Step,
  schedule: IScheduleRecord
): IQuestion | null {
  const name = nameOf(schedule);
  if (step === 'kill') {
    return {
      title: trans.__('End %1?', name),
      text: trans.__('It never runs again, and what it runs just now is cancelled.'),
      yes: trans.__('End %1', schedule.name)
    };
  }
  if (step === 'resume' && !schedule.no_catch_up) {
    return {
      title: trans.__('Resume %1?', name),
      text: trans.__('The runs that were missed meanwhile come first, oldest first.'),
      yes: trans.__('Resume %1', schedule.name)
    };
  }
  return null;
}

/** Return the question before the cancellation of a run. */
export function cancelQuestion(
  trans: TranslationBundle,
  run: IRun,
  schedule: IScheduleRecord,
  now: Date
): IQuestion {
  return {
    title: trans.__('Cancel the run of %1, %2?', nameOf(schedule), forText(trans, run, now)),
    text: trans.__('What it runs is ended. Later runs are not affected.'),
    yes: trans.__('Cancel the run')
  };
}
