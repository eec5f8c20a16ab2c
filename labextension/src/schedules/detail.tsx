import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '../list';
import { asServiceError, type ServiceRequests, useResource, useSignal } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import { asOfText, typeWord } from '../words';
import { ActionLog } from './actionLog';
import type { ScheduleDetailModel } from './detailModel';
import type { IDetailSteps } from './detailSteps';
import { forText, type IRun, parametersText } from './runs';
import { RunStrip } from './runStrip';
import { RunTable } from './runTable';
import { notebookOf, stepLabel, stepsOf } from './steps';
import {
  alertLimits,
  alertsOf,
  alertText,
  nextRun,
  nextText,
  reasonOf,
  scheduleWord,
  timetableText,
  wordOf
} from './words';
import '../../style/scheduleDetail.css';

interface IDetailProps {
  model: ScheduleDetailModel;
  requests: ServiceRequests;
  steps: IDetailSteps;
  trans: TranslationBundle;
}

/** A schedule: its state and timetable, its runs, and the log of the selected run. */
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
  const { schedule, runs } = value;
  const attempt = (step: Promise<void>): void => {
    setProblem(null);
    step.catch((reason: unknown) => setProblem(asServiceError(reason).message));
  };
  const next = nextText(trans, schedule, new Date());
  return (
    <div className="jp-SvcDetail">
      <Head schedule={schedule} next={next} steps={steps} attempt={attempt} trans={trans} />
      <Source {...props} schedule={schedule} attempt={attempt} />
      {alertsOf(schedule).map(alert => (
        <p key={`${alert.alert} ${alert.action_id}`} className="jp-SvcRemark">
          ⚠ {alertText(trans, alert, new Date())}
        </p>
      ))}
      {error && <ErrorState error={error} {...retry} />}
      <p role="alert" className="jp-SvcField-problem">
        {problem === null ? '' : `✗ ${problem}`}
      </p>
      {runs.length === 0 ? (
        <EmptyState text={trans.__('It has not run yet: %1.', next)} />
      ) : (
        <>
          <RunStrip
            runs={runs}
            next={nextRun(schedule) && next}
            onSelect={run => model.select(run.key)}
            trans={trans}
          />
          <Runs
            {...props}
            schedule={schedule}
            runs={runs}
            hasMore={value.hasMore}
            attempt={attempt}
            onProblem={setProblem}
          />
        </>
      )}
      <p className="jp-SvcMuted jp-SvcDetail-asOf">{asOf && asOfText(trans, asOf)}</p>
    </div>
  );
}

interface IPart {
  schedule: IScheduleRecord;
  steps: IDetailSteps;
  attempt: (step: Promise<void>) => void;
  trans: TranslationBundle;
}

const TONES: Readonly<Record<IScheduleRecord['status'], string>> = {
  RUNNING: 'jp-mod-active',
  SUSPENDED: 'jp-mod-suspended',
  DONE: 'jp-mod-ended',
  KILLED: 'jp-mod-ended'
};

function Head({ schedule, next, steps, attempt, trans }: IPart & { next: string }): JSX.Element {
  const shown = stepsOf(schedule).filter(step => step !== 'kill');
  const hasMenu = stepsOf(schedule).includes('kill');
  return (
    <div className="jp-SvcDetail-head">
      <h2>{schedule.name}</h2>
      <span className={`jp-SvcChip ${TONES[schedule.status]}`}>
        {scheduleWord(trans, schedule)}
      </span>
      <span className="jp-SvcMuted jp-SvcDetail-when">
        {[timetableText(trans, schedule), schedule.status === 'SUSPENDED' ? '' : next]
          .filter(text => text !== '')
          .join(' · ')}
      </span>
      <div className="jp-SvcDetail-steps" role="toolbar" aria-label={trans.__('What can be done')}>
        {shown.map(step => (
          <button
            key={step}
            type="button"
            className="jp-SvcButton"
            onClick={() => attempt(steps.step(step, schedule))}
          >
            {stepLabel(trans, step)}
          </button>
        ))}
        {hasMenu && (
          <button
            type="button"
            className="jp-SvcButton"
            aria-haspopup="menu"
            aria-label={trans.__('More')}
            title={trans.__('More')}
            onClick={event => {
              const { left, bottom } = event.currentTarget.getBoundingClientRect();
              steps.menu(schedule, left, bottom);
            }}
          >
            ⋯
          </button>
        )}
      </div>
    </div>
  );
}

/** What the schedule runs, with which parameters, and whether the notebook has changed since. */
function Source(props: IPart & { model: ScheduleDetailModel }): JSX.Element {
  const { model, schedule, steps, attempt, trans } = props;
  const { value: copy } = useResource(model.copy);
  const notebook = notebookOf(schedule);
  const { path, note_id: note } = schedule.command;
  const limits = alertLimits(trans, schedule.due_by ?? '', String(schedule.longer_than ?? ''));
  const source = path
    ? trans.__('notebook %1', notebook ?? path)
    : note
      ? trans.__('note %1', note)
      : typeWord(trans, schedule.command_type);
  return (
    <p className="jp-SvcMuted">
      {[source, parametersText(null, schedule), limits === '' ? '' : trans.__('alert: %1', limits)]
        .filter(text => text !== '')
        .join(' · ')}
      {notebook !== null && copy?.is_current === false && (
        <>
          {' · '}
          {trans.__('the notebook is newer than the scheduled copy:')}{' '}
          <button
            type="button"
            className="jp-SvcLink"
            onClick={() => attempt(steps.updateCopy(notebook))}
          >
            {trans.__('update the scheduled copy')}
          </button>
        </>
      )}
    </p>
  );
}

interface IRunsProps extends IDetailProps {
  schedule: IScheduleRecord;
  runs: IRun[];
  hasMore: boolean;
  attempt: (step: Promise<void>) => void;
  onProblem: (problem: string | null) => void;
}

function Runs(props: IRunsProps): JSX.Element {
  const { model, requests, runs, trans, onProblem } = props;
  const selected = useSignal(model.selectionChanged, () => model.selected);
  const chosen = runs.find(one => one.key === selected);
  const more = (): void => void model.more().then(failure => failure && onProblem(failure.message));
  const now = new Date();
  return (
    <>
      <div className="jp-SvcDetail-list">
        <RunTable
          {...props}
          selected={selected}
          onSelect={run => model.select(run.key === selected ? null : run.key)}
        />
        {props.hasMore && (
          <button type="button" className="jp-SvcLink jp-SvcDetail-older" onClick={more}>
            {trans.__('Show older runs')}
          </button>
        )}
      </div>
      {chosen && chosen.commandId !== null && (
        <ActionLog
          requests={requests}
          commandId={chosen.commandId}
          label={trans.__(
            'Log of the run %1 (command %2)',
            forText(trans, chosen, now),
            chosen.commandId
          )}
          trans={trans}
        />
      )}
      {chosen?.action && chosen.commandId === null && (
        <p>
          {trans.__(
            'The run for %1 has no command yet: %2.',
            forText(trans, chosen, now),
            [wordOf(trans, chosen.action), reasonOf(trans, chosen.action)]
              .filter(Boolean)
              .join(', ')
          )}
        </p>
      )}
    </>
  );
}
