import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { EmptyState, ErrorState, LoadingState, VirtualList } from '../list';
import { type Resource, useResource } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import { iconOf } from '../words';
import { lastText, needsAttention, nextText, shownStatus, timetableText } from './words';

/** The content of the section, and its actions. */
export interface ISchedulesSectionProps {
  trans: TranslationBundle;
  schedules: Resource<IScheduleRecord[]>;
  open: (schedule: IScheduleRecord) => void;
  /** Open the menu of steps at a position of the page. */
  menu: (schedule: IScheduleRecord, x: number, y: number) => void;
  kill: (schedule: IScheduleRecord) => void;
  /** Schedule the open notebook; null when none is open. */
  first: (() => void) | null;
  /** Set whether finished schedules are listed too. */
  showEnded: (wanted: boolean) => void;
}

/** The schedules: those that need attention first, then by next run. Enter opens one; its menu is at the row's end. */
export function SchedulesSection(props: ISchedulesSectionProps): JSX.Element {
  const { trans, schedules } = props;
  const { value, error } = useResource(schedules);
  const [ended, setEnded] = useState(false);
  const retry = { retry: () => void schedules.refresh(), retryLabel: trans.__('Try again') };
  if (!value) {
    return error ? (
      <ErrorState error={error} {...retry} />
    ) : (
      <LoadingState text={trans.__('Asking the service…')} />
    );
  }
  return (
    <div className="jp-SvcSchedules">
      {error && <ErrorState error={error} {...retry} />}
      <label className="jp-SvcCheck jp-SvcSchedules-filter">
        <input
          type="checkbox"
          checked={ended}
          onChange={event => {
            setEnded(event.target.checked);
            props.showEnded(event.target.checked);
          }}
        />
        {trans.__('Show ended')}
      </label>
      {value.length === 0 ? <NoSchedules {...props} /> : <List {...props} value={value} />}
    </div>
  );
}

function NoSchedules({ trans, first }: ISchedulesSectionProps): JSX.Element {
  return (
    <EmptyState
      text={
        first
          ? trans.__('There are no schedules yet.')
          : trans.__(
              'There are no schedules yet. Open a notebook, and schedule it with the clock in its toolbar.'
            )
      }
    >
      {first && (
        <button type="button" className="jp-Button jp-mod-styled jp-mod-minimal" onClick={first}>
          {trans.__('Schedule the open notebook…')}
        </button>
      )}
    </EmptyState>
  );
}

function List(props: ISchedulesSectionProps & { value: IScheduleRecord[] }): JSX.Element {
  const { trans, value, open, menu, kill } = props;
  const atRow = (schedule: IScheduleRecord, element: Element): void => {
    const { left, bottom } = element.getBoundingClientRect();
    menu(schedule, left, bottom);
  };
  return (
    <VirtualList
      items={value}
      keyOf={one => String(one.id)}
      label={trans.__('Schedules')}
      rowHeight={44}
      render={one => <Row schedule={one} trans={trans} />}
      actions={one => (
        <button
          type="button"
          className="jp-Button jp-mod-minimal jp-mod-styled"
          aria-haspopup="menu"
          aria-label={trans.__('What can be done about %1', one.name)}
          title={trans.__('What can be done about %1', one.name)}
          onClick={event => atRow(one, event.currentTarget)}
        >
          ⋯
        </button>
      )}
      onActivate={open}
      activateOnClick
      onKey={(event, one) => {
        if (event.key === 'Delete') {
          kill(one);
          return true;
        }
        if (event.key === 'ContextMenu' || (event.shiftKey && event.key === 'F10')) {
          atRow(one, event.target as Element);
          return true;
        }
        return false;
      }}
    />
  );
}

function Row({
  schedule,
  trans
}: {
  schedule: IScheduleRecord;
  trans: TranslationBundle;
}): JSX.Element {
  const now = new Date();
  const told = [lastText(trans, schedule, now), nextText(trans, schedule, now)].filter(
    text => text !== ''
  );
  return (
    <div
      className={needsAttention(schedule) ? 'jp-SvcSchedule jp-mod-attention' : 'jp-SvcSchedule'}
      title={`${schedule.name} · ${timetableText(trans, schedule)}`}
    >
      <div className="jp-SvcSchedule-name">
        <span aria-hidden="true">{iconOf(shownStatus(schedule))}</span> {schedule.name}
      </div>
      <div className="jp-SvcMuted">{told.join(' · ')}</div>
    </div>
  );
}
