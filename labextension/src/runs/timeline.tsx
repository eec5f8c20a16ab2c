import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useContext, useEffect, useMemo } from 'react';
import { VirtualList } from '../list';
import { useSignal, VisibleContext } from '../service';
import type { IRecentRun } from '../service/records/schedules';
import { day, iconOf } from '../words';
import { hasFailed, type ILine, midnight } from './lines';
import { DAYS, marksOf, SLOTS, slotOf } from './marks';
import type { RunsModel } from './model';
import { lineText, markText } from './words';
import { timetableText } from '../schedules/words';

interface ITimelineProps {
  lines: readonly ILine[];
  model: RunsModel;
  openSchedule: (id: number) => void;
  openRun: (run: IRecentRun) => void;
  now: Date;
  trans: TranslationBundle;
}

/** The schedules, a line each: what ran as filled marks, what is planned as outlines. */
export function Timeline(props: ITimelineProps): JSX.Element {
  const { lines, now, trans } = props;
  return (
    <div className="jp-SvcTimeline">
      <Axis now={now} />
      <VirtualList
        items={lines}
        keyOf={line => String(line.id)}
        label={trans.__('Schedules, seven days back and ahead')}
        render={line => <Line {...props} line={line} />}
        activateOnClick
        onActivate={line => props.openSchedule(line.id)}
      />
    </div>
  );
}

/** The days, with today's marked. */
function Axis({ now }: { now: Date }): JSX.Element {
  const days = Array.from({ length: 2 * DAYS + 1 }, (_, place) => midnight(now, place - DAYS));
  return (
    <div className="jp-SvcTimeline-axis" aria-hidden="true">
      <div className="jp-SvcTimeline-days">
        {days.map((one, place) => {
          const [weekday, number] = day(one, one).split(' ');
          return (
            <span
              key={one.getTime()}
              className={place === DAYS ? 'jp-mod-today' : undefined}
              title={day(one, one)}
            >
              <span className="jp-SvcTimeline-weekday">{weekday} </span>
              {number}
            </span>
          );
        })}
      </div>
    </div>
  );
}

function Line(props: ITimelineProps & { line: ILine }): JSX.Element {
  const { line, model, openRun, now, trans } = props;
  const { schedule, runs } = line;
  const isVisible = useContext(VisibleContext);
  const isActive = schedule?.status === 'RUNNING';
  useEffect(() => {
    if (schedule && isActive && isVisible) {
      const wish = model.want(schedule);
      return () => wish.dispose();
    }
    return undefined;
  }, [model, schedule, isActive, isVisible]);
  const next = useSignal(model.changed, () =>
    schedule && isActive ? model.nextTimes(schedule) : undefined
  );
  const slotNow = slotOf(now, now);
  const { marks, further } = useMemo(
    () => marksOf(runs, next?.times ?? [], next?.isAll ?? true, now),
    // The time counts by its slot.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [runs, next, slotNow]
  );
  const [last] = runs;
  const icon = last ? last.status : isActive ? 'active' : (schedule?.status ?? 'ended');
  const text = lineText(trans, line, now);
  return (
    <div className="jp-SvcTimeline-line">
      <div className="jp-SvcTimeline-name" title={`${line.name}\n${text}`}>
        <span
          className={`jp-SvcTone jp-mod-${last && hasFailed(last) ? 'bad' : 'calm'}`}
          aria-hidden="true"
        >
          <span className="jp-SvcTone-icon">{iconOf(icon)}</span>
        </span>{' '}
        <bdi>{line.name}</bdi>
        <span className="jp-SvcUnseen"> {text}</span>
      </div>
      <div className="jp-SvcTimeline-track" aria-hidden="true">
        {marks.map(mark => (
          <span
            key={`${mark.slot} ${mark.run === null}`}
            className={`jp-SvcMark ${toneOf(mark.run)}`}
            style={place(mark.slot, mark.slots)}
            title={markText(trans, mark, now)}
            onClick={event => {
              if (mark.run) {
                event.stopPropagation();
                openRun(mark.run);
              }
            }}
          >
            {mark.run && iconOf(mark.run.status)}
          </span>
        ))}
        {further !== null && schedule && (
          <span
            className="jp-SvcMark jp-mod-further"
            style={place(further, SLOTS - further)}
            title={timetableText(trans, schedule)}
          />
        )}
      </div>
    </div>
  );
}

function place(slot: number, slots: number): { left: string; width: string } {
  return { left: `${(100 * slot) / SLOTS}%`, width: `calc(${(100 * slots) / SLOTS}% - 1px)` };
}

function toneOf(run: IRecentRun | null): string {
  if (run === null) {
    return 'jp-mod-planned';
  }
  if (hasFailed(run)) {
    return 'jp-mod-failed';
  }
  return !run.done ? 'jp-mod-open' : run.status === 'done' ? 'jp-mod-done' : 'jp-mod-cancelled';
}
