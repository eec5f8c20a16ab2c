import type { TranslationBundle } from '@jupyterlab/translation';
import type { IQuestion } from '../panel';
import type { IActionRecord, IScheduleRecord, ScheduleChange } from '../service/records/schedules';
import { momentOf, shortTime } from './times';
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

/** Return the steps possible in a schedule's status, in the order of a menu. */
export function stepsOf(schedule: IScheduleRecord): readonly Step[] {
  const isNotebook = schedule.command_type === 'JupyterNotebookCommand';
  if (schedule.status === 'KILLED' && OWN_COPY.test(schedule.command.path ?? '')) {
    return []; // nothing else ran that copy, and it is removed
  }
  return OF_STATUS[schedule.status].filter(step => step !== 'edit' || isNotebook);
}

/** Return the name of a step. */
export function stepLabel(trans: TranslationBundle, step: Step): string {
  const labels: Record<Step, string> = {
    edit: trans.__('Edit…'),
    run: trans.__('Run once now'),
    suspend: trans.__('Suspend'),
    resume: trans.__('Resume'),
    kill: trans.__('Kill…')
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
      title: trans.__('Kill %1?', name),
      text: trans.__('It never runs again, and what it runs just now is cancelled.'),
      yes: trans.__('Kill %1', schedule.name)
    };
  }
  if (step === 'resume' && !schedule.no_catch_up) {
    return {
      title: trans.__('Resume %1?', name),
      text: trans.__('Nominal times that were missed meanwhile run first, oldest first.'),
      yes: trans.__('Resume %1', schedule.name)
    };
  }
  return null;
}

/** Return the question before the cancellation of an action. */
export function cancelQuestion(
  trans: TranslationBundle,
  action: IActionRecord,
  schedule: IScheduleRecord,
  now: Date
): IQuestion {
  const when = momentOf(action.nominal_time, 'UTC');
  return {
    title: trans.__('Cancel action %1 of %2?', action.sequence_id, nameOf(schedule)),
    text: trans.__(
      'It is the run for %1. What it runs is ended.',
      when ? shortTime(when, now) : action.nominal_time
    ),
    yes: trans.__('Cancel action %1', action.sequence_id)
  };
}
