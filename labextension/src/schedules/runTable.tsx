import type { TranslationBundle } from '@jupyterlab/translation';
import {
  copyIcon,
  type LabIcon,
  listIcon,
  notebookIcon,
  refreshIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import type { JSX } from 'react';
import type { IScheduleRecord } from '../service/records/schedules';
import { iconOf } from '../words';
import type { IDetailSteps } from './detailSteps';
import { forText, type IRun, startedText, statusText, tookText } from './runs';
import { toneOf } from './tones';

interface ITableProps {
  schedule: IScheduleRecord;
  runs: readonly IRun[];
  /** The key of the run whose log is shown, or null. */
  selected: string | null;
  onSelect: (run: IRun) => void;
  steps: IDetailSteps;
  attempt: (step: Promise<void>) => void;
  trans: TranslationBundle;
}

/** The runs of a schedule, newest first. A press on a run shows its log. */
export function RunTable(props: ITableProps): JSX.Element {
  const { schedule, runs, trans } = props;
  return (
    <table className="jp-SvcRuns" aria-label={trans.__('Runs of %1', schedule.name)}>
      <thead>
        <tr>
          <th scope="col">{trans.__('For')}</th>
          <th scope="col">{trans.__('Started')}</th>
          <th scope="col" className="jp-mod-number">
            {trans.__('Took')}
          </th>
          <th scope="col">{trans.__('Status')}</th>
          <th scope="col">{trans.__('Command')}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {runs.map(run => (
          <Row key={run.key} {...props} run={run} />
        ))}
      </tbody>
    </table>
  );
}

function Row(props: ITableProps & { run: IRun }): JSX.Element {
  const { run, selected, onSelect, steps, attempt, trans } = props;
  const now = new Date();
  const status = statusText(trans, run);
  const isSelected = run.key === selected;
  return (
    <tr className={isSelected ? 'jp-mod-selected' : undefined} onClick={() => onSelect(run)}>
      <td>
        <button
          type="button"
          className="jp-SvcRuns-for"
          aria-expanded={isSelected}
          title={trans.__('Show the log')}
          onClick={event => {
            event.stopPropagation();
            onSelect(run);
          }}
        >
          {forText(trans, run, now)}
        </button>
      </td>
      <td>{startedText(run, now)}</td>
      <td className="jp-mod-number">{tookText(trans, run, now)}</td>
      <td className={`jp-SvcRuns-status ${toneOf(run)}`} title={status}>
        <span aria-hidden="true">{iconOf(run.status)}</span> {status}
      </td>
      <td>
        {run.commandId !== null && (
          <button
            type="button"
            className="jp-SvcLink"
            title={trans.__('Show command %1', run.commandId)}
            onClick={event => {
              event.stopPropagation();
              attempt(steps.openCommand(run));
            }}
          >
            {run.commandId}
          </button>
        )}
      </td>
      <td className="jp-SvcRuns-steps" onClick={event => event.stopPropagation()}>
        <Steps {...props} />
      </td>
    </tr>
  );
}

function Steps(props: ITableProps & { run: IRun }): JSX.Element {
  const { run, runs, schedule, steps, attempt, trans } = props;
  const subject = forText(trans, run, new Date());
  const button = (
    label: string,
    title: string,
    icon: LabIcon,
    step: () => Promise<void>
  ): JSX.Element => (
    <button
      type="button"
      className="jp-SvcLink"
      aria-label={title}
      title={title}
      onClick={() => attempt(step())}
    >
      <icon.react tag="span" className="jp-SvcRuns-icon" />
      <span className="jp-SvcRuns-label">{label}</span>
    </button>
  );
  if (!run.isDone) {
    return button(trans.__('Cancel…'), trans.__('Cancel the run %1', subject), stopIcon, () =>
      steps.cancel(run, schedule)
    );
  }
  const isNotebook = hasNotebook(run, schedule);
  const place = runs.indexOf(run);
  // The one before it at first, then the older and the newer ones.
  const others = [...runs.slice(place + 1), ...runs.slice(0, place)].filter(
    other => other.isDone && hasNotebook(other, schedule)
  );
  return (
    <>
      {isNotebook &&
        button(
          trans.__('Notebook'),
          trans.__('Show the executed notebook of the run %1', subject),
          notebookIcon,
          () => steps.openPage(run, schedule)
        )}
      {isNotebook &&
        button(
          trans.__('Copy'),
          trans.__('Open a copy of the executed notebook of the run %1', subject),
          copyIcon,
          () => steps.openCopy(run, schedule)
        )}
      {isNotebook &&
        others.length > 0 &&
        button(
          trans.__('Compare'),
          trans.__('Compare the run %1 with another', subject),
          listIcon,
          () => steps.compare(run, others, schedule)
        )}
      {run.action !== null &&
        schedule.status !== 'KILLED' &&
        button(trans.__('Run again'), trans.__('Run again for %1', subject), refreshIcon, () =>
          steps.rerun(run, schedule)
        )}
    </>
  );
}

function hasNotebook(run: IRun, schedule: IScheduleRecord): boolean {
  return (
    schedule.command_type === 'JupyterNotebookCommand' &&
    typeof run.command?.start_time === 'number'
  );
}
