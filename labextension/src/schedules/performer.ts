import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { notifyDone } from '../notices';
import type { ICommand } from '../service/records/commands';
import type { IScheduleRecord } from '../service/records/schedules';
import { iconOf } from '../words';
import { isConfirmed, OPEN_COMMAND } from '../panel';
import type { ScheduleCalls } from './calls';
import type { IComparisonProps } from './comparison';
import type { IDetailSteps } from './detailSteps';
import { forText, type IRun, statusWord } from './runs';
import { cancelQuestion, questionOf, type Step } from './steps';
import { type ISvcSchedules, ScheduleCommands } from './tokens';
import { nameOf } from './words';

/** What opens things in JupyterLab. */
export interface IOpener {
  /** Show the executed notebook of a run in a separate tab. */
  page: (run: IRun, schedule: IScheduleRecord, calls: ScheduleCalls) => void;
  /** Show two notebooks side by side; `id` is unique among what is open. */
  comparison: (id: string, props: IComparisonProps) => void;
  /** Save a notebook under a free name, and open it. */
  copy: (name: string, content: INotebookContent) => Promise<void>;
}

/** Performs steps on schedules and their runs: asks before what cannot be undone, then shows the outcome. */
export class SchedulePerformer implements Omit<IDetailSteps, 'menu'> {
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
          '%1 is suspended: no further run begins until it is resumed.',
          nameOf(schedule)
        ),
        resume: this._trans.__('%1 runs again.', nameOf(schedule)),
        kill: this._trans.__('%1 has ended.', nameOf(schedule))
      };
      notifyDone(done[step]);
    }
    this._schedules.changed();
  }

  async rerun(run: IRun, schedule: IScheduleRecord): Promise<void> {
    if (run.action) {
      await this._schedules.calls.rerunAction(run.action.id);
      notifyDone(
        this._trans.__(
          '%1 runs again for %2.',
          nameOf(schedule),
          forText(this._trans, run, new Date())
        )
      );
      this._schedules.changed();
    }
  }

  async cancel(run: IRun, schedule: IScheduleRecord): Promise<void> {
    const { calls } = this._schedules;
    if (await isConfirmed(this._trans, cancelQuestion(this._trans, run, schedule, new Date()))) {
      await (run.action
        ? calls.killAction(run.action.id)
        : calls.cancelCommand(run.commandId ?? 0));
      this._schedules.changed();
    }
  }

  openPage(run: IRun, schedule: IScheduleRecord): Promise<void> {
    this._opener.page(run, schedule, this._schedules.calls);
    return Promise.resolve();
  }

  async openCopy(run: IRun, schedule: IScheduleRecord): Promise<void> {
    const id = run.commandId ?? 0;
    const content = await this._schedules.calls.executedNotebook<INotebookContent>(id);
    const file = PathExt.basename(schedule.command.path ?? schedule.name, '.ipynb');
    await this._opener.copy(`${file}-run-${id}`, content);
  }

  async openCommand(run: IRun): Promise<void> {
    await this._commands.execute(OPEN_COMMAND, { id: run.commandId ?? 0 });
  }

  compare(run: IRun, others: readonly IRun[], schedule: IScheduleRecord): Promise<void> {
    const name = (one: IRun): string =>
      [
        forText(this._trans, one, new Date()),
        `${iconOf(one.status)} ${statusWord(this._trans, one)}`,
        this._trans.__('command %1', one.commandId ?? '')
      ].join(' · ');
    this._opener.comparison(`svc-jupyter-comparison-${run.commandId}`, {
      title: this._trans.__('Compare runs of %1', schedule.name),
      lefts: others.map(one => ({ id: one.commandId ?? 0, name: name(one) })),
      right: name(run),
      read: left => this._schedules.calls.compare(left, run.commandId ?? 0),
      trans: this._trans
    });
    return Promise.resolve();
  }

  updateCopy(notebook: string): Promise<void> {
    compareCopy(this._opener, this._schedules, notebook, this._trans);
    return Promise.resolve();
  }
}

/** Show what differs between a saved notebook and the copy that its schedules run, and offer to replace the copy. */
export function compareCopy(
  opener: Pick<IOpener, 'comparison'>,
  schedules: ISvcSchedules,
  notebook: string,
  trans: TranslationBundle
): void {
  const { calls } = schedules;
  opener.comparison(`svc-jupyter-comparison-of-copy-${notebook}`, {
    title: PathExt.basename(notebook),
    lefts: [{ id: 0, name: trans.__('the scheduled copy') }],
    right: trans.__('the notebook as it is saved'),
    read: () => calls.compareCopy(notebook),
    step: {
      label: trans.__('Update the scheduled copy'),
      execute: async () => {
        await calls.updateCopy(notebook);
        notifyDone(trans.__('Later runs take the notebook as it is saved now.'));
        schedules.changed();
      }
    },
    trans
  });
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
          label: trans.__('Show'),
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
