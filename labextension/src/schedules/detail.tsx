import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useCallback, useState, useSyncExternalStore } from 'react';
import { EmptyState, ErrorState, LoadingState, VirtualList } from '../list';
import { asServiceError, type ServiceRequests, useResource } from '../service';
import type { IActionRecord, IScheduleRecord } from '../service/records/schedules';
import { iconOf, typeWord } from '../words';
import { ActionLog } from './actionLog';
import type { ScheduleDetailModel } from './detailModel';
import { type Step, stepLabel, stepsOf } from './steps';
import { momentOf, shortTime } from './times';
import { nameOf, nextText, reasonOf, scheduleWord, timetableText, wordOf } from './words';

/** The steps in the detail of a schedule. All reject with `ServiceError`. */
export interface IDetailSteps {
  step: (step: Step, schedule: IScheduleRecord) => Promise<void>;
  rerun: (action: IActionRecord, schedule: IScheduleRecord) => Promise<void>;
  /** Asks for confirmation first. */
  cancel: (action: IActionRecord, schedule: IScheduleRecord) => Promise<void>;
  openPage: (action: IActionRecord, schedule: IScheduleRecord) => Promise<void>;
  openCopy: (action: IActionRecord, schedule: IScheduleRecord) => Promise<void>;
}

interface IDetailProps {
  model: ScheduleDetailModel;
  requests: ServiceRequests;
  steps: IDetailSteps;
  trans: TranslationBundle;
}

/** A schedule: its timetable, its steps, its actions, and the log of the selected action. */
export function ScheduleDetail(props: IDetailProps): JSX.Element {
  const { model, steps, trans } = props;
  const { value, error, asOf } = useResource(model.look);
  const [problem, setProblem] = useState<string | null>(null);
  const retry = { retry: () => void model.look.refresh(), retryLabel: trans.__('Try again') };
  if (!value) {
    return error ? (
      <ErrorState error={error} {...retry} />
    ) : (
      <LoadingState text={trans.__('Asking the service…')} />
    );
  }
  const { schedule } = value;
  const attempt = (step: Promise<void>): void => {
    setProblem(null);
    step.catch((reason: unknown) => setProblem(asServiceError(reason).message));
  };
  return (
    <div className="jp-SvcDetail">
      <Facts schedule={schedule} trans={trans} />
      <div className="jp-SvcForm-buttons" role="toolbar" aria-label={trans.__('What can be done')}>
        {stepsOf(schedule).map(step => (
          <button
            key={step}
            type="button"
            className="jp-Button jp-mod-styled jp-mod-reject"
            onClick={() => attempt(steps.step(step, schedule))}
          >
            {stepLabel(trans, step)}
          </button>
        ))}
      </div>
      {error && <ErrorState error={error} {...retry} />}
      <p role="alert" className="jp-SvcField-problem">
        {problem === null ? '' : `✗ ${problem}`}
      </p>
      {value.actions.length === 0 ? (
        <EmptyState
          text={trans.__('It has not run yet: %1.', nextText(trans, schedule, new Date()))}
        />
      ) : (
        <Actions
          {...props}
          schedule={schedule}
          actions={value.actions}
          attempt={attempt}
          onProblem={setProblem}
        />
      )}
      <p className="jp-SvcMuted">{asOf && trans.__('as of %1', asOf.toLocaleTimeString())}</p>
    </div>
  );
}

function Facts({
  schedule,
  trans
}: {
  schedule: IScheduleRecord;
  trans: TranslationBundle;
}): JSX.Element {
  const given = Object.entries(schedule.command.arguments ?? {});
  return (
    <>
      <h2>
        {nameOf(schedule)} · <span aria-hidden="true">{iconOf(scheduleWord(trans, schedule))}</span>{' '}
        {scheduleWord(trans, schedule)}
      </h2>
      <p>
        {timetableText(trans, schedule)} · {nextText(trans, schedule, new Date())}
      </p>
      <p className="jp-SvcMuted">
        {schedule.command.path ?? typeWord(trans, schedule.command_type)}
        {given.length > 0 &&
          ` · ${given.map(([name, one]) => `${name} = ${JSON.stringify(one)}`).join(', ')}`}
      </p>
    </>
  );
}

interface IActionsProps extends IDetailProps {
  schedule: IScheduleRecord;
  actions: IActionRecord[];
  attempt: (step: Promise<void>) => void;
  onProblem: (problem: string | null) => void;
}

function Actions(props: IActionsProps): JSX.Element {
  const { model, requests, schedule, actions, trans, onProblem } = props;
  const selected = useSelected(model);
  const chosen = actions.find(one => one.id === selected);
  const more = useCallback(
    () => void model.more().then(failure => failure && onProblem(failure.message)),
    [model, onProblem]
  );
  return (
    <>
      <div className="jp-SvcDetail-list">
        <VirtualList
          items={actions}
          keyOf={one => String(one.id)}
          label={trans.__('Actions of %1', schedule.name)}
          rowHeight={32}
          selectedKey={selected === null ? null : String(selected)}
          onActivate={one => model.select(one.id)}
          activateOnClick
          onNearEnd={more}
          render={one => <ActionRow action={one} trans={trans} />}
          actions={one => <ActionButtons {...props} action={one} />}
        />
      </div>
      {typeof chosen?.query_hist_id === 'number' && (
        <ActionLog
          requests={requests}
          commandId={chosen.query_hist_id}
          label={trans.__(
            'Log of action %1 (command %2)',
            chosen.sequence_id,
            chosen.query_hist_id
          )}
          trans={trans}
        />
      )}
      {chosen && chosen.query_hist_id === null && (
        <p>
          {trans.__(
            'Action %1 has not begun a command: %2.',
            chosen.sequence_id,
            wordOf(trans, chosen)
          )}
        </p>
      )}
    </>
  );
}

function useSelected(model: ScheduleDetailModel): number | null {
  const subscribe = useCallback(
    (changed: () => void) => {
      model.selectionChanged.connect(changed);
      return () => void model.selectionChanged.disconnect(changed);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.selected);
}

function ActionRow({
  action,
  trans
}: {
  action: IActionRecord;
  trans: TranslationBundle;
}): JSX.Element {
  const when = momentOf(action.nominal_time, 'UTC');
  const again = action.rerun_number > 0 ? trans.__('rerun %1', action.rerun_number) : '';
  const shown = [
    `${action.sequence_id}`,
    again,
    when ? shortTime(when, new Date()) : action.nominal_time,
    wordOf(trans, action),
    reasonOf(trans, action)
  ];
  const text = shown.filter(part => part !== '').join(' · ');
  return (
    <span
      title={text}
      className={action.status === 'error' ? 'jp-SvcSchedule jp-mod-attention' : 'jp-SvcSchedule'}
    >
      <span aria-hidden="true">{iconOf(action.status)}</span> {text}
    </span>
  );
}

function ActionButtons(props: IActionsProps & { action: IActionRecord }): JSX.Element {
  const { action, schedule, steps, attempt, trans } = props;
  const number = action.sequence_id;
  const button = (label: string, title: string, step: () => Promise<void>): JSX.Element => (
    <button
      type="button"
      className="jp-Button jp-mod-minimal jp-mod-styled"
      aria-label={title}
      title={title}
      onClick={() => attempt(step())}
    >
      {label}
    </button>
  );
  if (!action.done) {
    return button(trans.__('Cancel…'), trans.__('Cancel action %1', number), () =>
      steps.cancel(action, schedule)
    );
  }
  const isNotebook =
    schedule.command_type === 'JupyterNotebookCommand' && action.query_hist_id !== null;
  return (
    <>
      {isNotebook &&
        button(
          trans.__('Notebook'),
          trans.__('Show the executed notebook of action %1', number),
          () => steps.openPage(action, schedule)
        )}
      {isNotebook &&
        button(
          trans.__('Copy'),
          trans.__('Open a copy of the executed notebook of action %1', number),
          () => steps.openCopy(action, schedule)
        )}
      {schedule.status !== 'KILLED' &&
        button(trans.__('Run again'), trans.__('Run action %1 again', number), () =>
          steps.rerun(action, schedule)
        )}
    </>
  );
}
