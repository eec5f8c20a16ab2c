import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useMemo, useState } from 'react';
import { EmptyState, ErrorState, LoadingState, TWO_LINES, TwoLines, VirtualList } from '../list';
import type { IListedSchedule } from '../schedules/words';
import { type Resource, useNow, useResource } from '../service';
import type { IRecentRun } from '../service/records/schedules';
import { dayHeading, iconOf, timesIn, timeText } from '../words';
import { beginOf, byDay, hasFailed, type ILine, keyOf, linesOf } from './lines';
import type { RunsModel } from './model';
import { Timeline } from './timeline';
import { forText, rowTime, statusText, summary, tookText } from './words';
import '../../style/scheduleDetail.css';
import '../../style/runs.css';

/** What the page shows and does. */
export interface IRunsPageProps {
  model: RunsModel;
  schedules: Resource<IListedSchedule[]>;
  openSchedule: (id: number) => void;
  /** Show a command; as a preview, which the next one replaces. */
  openCommand: (id: number, isPreview: boolean) => void;
  trans: TranslationBundle;
}

/** The runs of all schedules: a timeline of seven days back and ahead, and below it the runs by day. */
export function RunsPage(props: IRunsPageProps): JSX.Element {
  const { model, schedules, trans } = props;
  const recent = useResource(model.recent);
  const all = useResource(schedules);
  const [failedOnly, setFailedOnly] = useState(false);
  const runs = useMemo(() => recent.value?.runs ?? [], [recent.value]);
  const lines = useMemo(() => linesOf(all.value ?? [], runs), [all.value, runs]);
  const now = useNow(runs.some(run => !run.done));
  const error = recent.error ?? all.error;
  const retry = (): void => {
    void model.recent.refresh();
    void schedules.refresh();
  };
  return (
    <div className="jp-SvcWeek">
      <div className="jp-SvcDetail-head">
        <h2>{trans.__('Runs')}</h2>
        <span className="jp-SvcMuted">
          {trans.__('all schedules · seven days back and ahead')} · {timesIn(trans)}
        </span>
        <span className="jp-SvcWeek-summary">{summary(trans, runs)}</span>
        <label className="jp-SvcCheck">
          <input
            type="checkbox"
            checked={failedOnly}
            onChange={event => setFailedOnly(event.target.checked)}
          />
          {trans.__('Failed only')}
        </label>
      </div>
      {error && <ErrorState error={error} retry={retry} retryLabel={trans.__('Try again')} />}
      {!(recent.value && all.value) && !error && (
        <LoadingState text={trans.__('Asking the service…')} />
      )}
      {recent.value && all.value && (
        <Found
          {...props}
          lines={failedOnly ? lines.filter(line => line.failed > 0) : lines}
          runs={failedOnly ? runs.filter(hasFailed) : runs}
          isComplete={recent.value.is_complete}
          now={now}
          showAll={failedOnly ? () => setFailedOnly(false) : null}
        />
      )}
    </div>
  );
}

interface IFoundProps extends IRunsPageProps {
  lines: readonly ILine[];
  runs: readonly IRecentRun[];
  isComplete: boolean;
  now: Date;
  /** Ends the filter; null without one. */
  showAll: (() => void) | null;
}

function Found(props: IFoundProps): JSX.Element {
  const { lines, runs, isComplete, now, showAll, trans } = props;
  const openRun = (run: IRecentRun, isPreview = true): void => {
    if (run.command_id === null) {
      props.openSchedule(run.schedule_id);
    } else {
      props.openCommand(run.command_id, isPreview);
    }
  };
  if (lines.length === 0) {
    return showAll ? (
      <EmptyState text={trans.__('No run failed in the last seven days.')}>
        <button type="button" className="jp-SvcButton jp-mod-small" onClick={showAll}>
          {trans.__('Show all runs')}
        </button>
      </EmptyState>
    ) : (
      <EmptyState
        text={trans.__(
          'There are no schedules yet. Open a notebook, and schedule it with the clock in its toolbar.'
        )}
      />
    );
  }
  return (
    <>
      <Timeline {...props} openRun={openRun} />
      {!isComplete && (
        <p className="jp-SvcMuted">
          {trans.__('Of more than 2,000 runs the newest are shown, since %1.', sinceOf(runs, now))}
        </p>
      )}
      {runs.length === 0 ? (
        <EmptyState text={trans.__('Nothing has run in the last seven days.')} />
      ) : (
        <RunList {...props} openRun={openRun} />
      )}
    </>
  );
}

function sinceOf(runs: readonly IRecentRun[], now: Date): string {
  const oldest = runs.at(-1);
  return oldest ? timeText(new Date(oldest.created_at), now) : '';
}

function RunList(
  props: IFoundProps & { openRun: (run: IRecentRun, isPreview?: boolean) => void }
): JSX.Element {
  const { lines, runs, now, openRun, trans } = props;
  const items = useMemo(() => byDay(runs), [runs]);
  const names = useMemo(() => new Map(lines.map(line => [line.id, line.name])), [lines]);
  const [selected, setSelected] = useState<string | null>(null);
  return (
    <VirtualList
      items={items}
      keyOf={keyOf}
      label={trans.__('Runs by day')}
      rowHeight={TWO_LINES}
      groupOf={run => dayHeading(trans, beginOf(run), now)}
      render={run => {
        const name = names.get(run.schedule_id) ?? String(run.schedule_id);
        const facts = [
          statusText(trans, run),
          forText(trans, run, now),
          run.command_id === null ? '' : trans.__('command %1', run.command_id)
        ]
          .filter(text => text !== '')
          .join(' · ');
        return (
          <TwoLines
            icon={iconOf(run.status)}
            word=""
            tone={
              hasFailed(run) ? 'bad' : !run.done ? 'busy' : run.status === 'done' ? 'good' : 'calm'
            }
            title={<bdi>{name}</bdi>}
            facts={facts}
            side={[tookText(trans, run, now), rowTime(beginOf(run))]}
            hover={`${name}\n${facts}`}
          />
        );
      }}
      selectedKey={selected}
      onSelect={run => setSelected(keyOf(run))}
      activateOnClick
      onActivate={run => openRun(run)}
      onKeep={run => openRun(run, false)}
    />
  );
}
