import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ICommand } from '../service/records/commands';
import type { IActionRecord, IScheduleRecord } from '../service/records/schedules';
import { isConfirmed, OPEN_COMMAND } from '../panel';
import type { IDetailSteps } from './detail';
import { cancelQuestion, questionOf, type Step } from './steps';
import { type ISvcSchedules, ScheduleCommands } from './tokens';
import { nameOf } from './words';

/** What opens things in JupyterLab. */
export interface IOpener {
  /** Show a page in a separate tab. */
  page: (id: string, title: string, read: () => Promise<string>) => void;
  /** Save a notebook under a free name, and open it. */
  copy: (name: string, content: INotebookContent) => Promise<void>;
}

/** Performs steps on schedules and actions: asks before what cannot be undone, then shows the outcome. */
export class SchedulePerformer implements IDetailSteps {
  constructor(
    private readonly _schedules: ISvcSchedules,
    private readonly _commands: CommandRegistry,
    private readonly _opener: IOpener,
    private readonly _trans: TranslationBundle
  ) {}

  async step(step: Step, schedule: IScheduleRecord): Promise<void> {
    if (step === 'edit') {
      await this._commands.execute(ScheduleCommands.schedule, { schedule: schedule.id });
      return;
    }
    const question = questionOf(this._trans, step, schedule);
    if (question && !(await isConfirmed(this._trans, question))) {
      return;
    }
    if (step === 'run') {
      tellOfCommand(await this._schedules.calls.run(schedule.id), this._commands, this._trans);
    } else {
      await this._schedules.calls.changeState(schedule.id, step);
      const done = {
        suspend: this._trans.__(
          '%1 is suspended: no further action begins until it is resumed.',
          nameOf(schedule)
        ),
        resume: this._trans.__('%1 runs again.', nameOf(schedule)),
        kill: this._trans.__('%1 is killed.', nameOf(schedule))
      };
      Notification.success(done[step]);
    }
    this._schedules.changed();
  }

  async rerun(action: IActionRecord, schedule: IScheduleRecord): Promise<void> {
    await this._schedules.calls.rerunAction(action.id);
    Notification.success(
      this._trans.__('Action %1 of %2 runs again.', action.sequence_id, nameOf(schedule))
    );
    this._schedules.changed();
  }

  async cancel(action: IActionRecord, schedule: IScheduleRecord): Promise<void> {
    if (await isConfirmed(this._trans, cancelQuestion(this._trans, action, schedule, new Date()))) {
      await this._schedules.calls.killAction(action.id);
      this._schedules.changed();
    }
  }

  openPage(action: IActionRecord, schedule: IScheduleRecord): Promise<void> {
    const title = this._trans.__('%1, action %2', schedule.name, action.sequence_id);
    this._opener.page(`svc-jupyter-executed-${action.id}`, title, () =>
      this._schedules.calls.actionPage(action.id)
    );
    return Promise.resolve();
  }

  async openCopy(action: IActionRecord, schedule: IScheduleRecord): Promise<void> {
    const content = await this._schedules.calls.actionNotebook<INotebookContent>(action.id);
    const file = PathExt.basename(schedule.command.path ?? schedule.name, '.ipynb');
    await this._opener.copy(`${file}-action-${action.sequence_id}`, content);
  }
}

/** Report that a command began, with a link to it. */
export function tellOfCommand(
  command: ICommand,
  commands: CommandRegistry,
  trans: TranslationBundle
): void {
  const actions = commands.hasCommand(OPEN_COMMAND)
    ? [
        {
          label: trans.__('Show it'),
          callback: () => void commands.execute(OPEN_COMMAND, { id: command.id })
        }
      ]
    : [];
  Notification.info(
    trans.__('Command %1 runs %2 once.', command.id, command.name ?? trans.__('the notebook')),
    {
      actions,
      autoClose: 10_000
    }
  );
}
