import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import {
  EmptyState,
  ErrorState,
  LoadingState,
  type Tone,
  TWO_LINES,
  TwoLines,
  VirtualList
} from '../list';
import { type Resource, useResource } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import { wordsOfActions, wordsOfSchedules } from '../statuses';
import { iconOf, timesIn } from '../words';
import {
  alertsOf,
  alertText,
  has,
  hasFailed,
  type IListedSchedule,
  lastText,
  needsAttention,
  nextText,
  shownStatus,
  timetableText
} from './words';

/** The content of the section, and its actions. */
export interface ISchedulesSectionProps {
  trans: TranslationBundle;
  schedules: Resource<IListedSchedule[]>;
  /** Open a schedule; as a preview, which the next one replaces. */
  open: (schedule: IScheduleRecord, preview: boolean) => void;
  /** The text searched for; empty for none. */
  search: string;
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
  const { trans, schedules, search } = props;
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
      <Found {...props} value={search === '' ? value : value.filter(one => has(one, search))} />
    </div>
  );
}

type IFoundProps = ISchedulesSectionProps & { value: IListedSchedule[] };

function Found(props: IFoundProps): JSX.Element {
  const { trans, value, search } = props;
  if (value.length > 0) {
    return <List {...props} />;
  }
  return search === '' ? (
    <NoSchedules {...props} />
  ) : (
    <EmptyState text={trans.__('No schedule has “%1”.', search)} />
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
        <button type="button" className="jp-SvcButton jp-mod-small" onClick={first}>
          {trans.__('Schedule the open notebook…')}
        </button>
      )}
    </EmptyState>
  );
}

function List(props: IFoundProps): JSX.Element {
  const { trans, value, open, menu, kill } = props;
  const [selected, setSelected] = useState<string | null>(null);
  const atRow = (schedule: IScheduleRecord, element: Element): void => {
    const { left, bottom } = element.getBoundingClientRect();
    menu(schedule, left, bottom);
  };
  return (
    <VirtualList
      items={value}
      keyOf={one => String(one.id)}
      label={trans.__('Schedules')}
      rowHeight={TWO_LINES}
      render={one => <Row schedule={one} trans={trans} />}
      actions={one => (
        <button
          type="button"
          className="jp-SvcButton jp-mod-small jp-mod-minimal"
          aria-haspopup="menu"
          aria-label={trans.__('What can be done about %1', one.name)}
          title={trans.__('What can be done about %1', one.name)}
          onClick={event => atRow(one, event.currentTarget)}
        >
          ⋯
        </button>
      )}
      selectedKey={selected}
      onSelect={one => setSelected(String(one.id))}
      onActivate={one => open(one, true)}
      onKeep={one => open(one, false)}
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
  schedule: IListedSchedule;
  trans: TranslationBundle;
}): JSX.Element {
  const now = new Date();
  const alerts = alertsOf(schedule).map(alert => alertText(trans, alert, now));
  const told = [
    ...alerts,
    alerts.length === 0 || hasFailed(schedule) ? lastText(trans, schedule, now) : '',
    nextText(trans, schedule, now)
  ].filter(text => text !== '');
  const status = shownStatus(schedule);
  const word = wordsOfActions(trans).get(status) ?? wordsOfSchedules(trans).get(schedule.status);
  return (
    <TwoLines
      icon={iconOf(status)}
      word={word ?? status}
      tone={toneOf(schedule, status)}
      title={schedule.name}
      facts={told.join(' · ')}
      hover={`${schedule.name} · ${timetableText(trans, schedule)}\n${told.join(' · ')}\n${timesIn(trans)}`}
    />
  );
}

function toneOf(schedule: IListedSchedule, status: string): Tone {
  if (hasFailed(schedule)) {
    return 'bad';
  }
  return needsAttention(schedule) ? 'warning' : (TONES[status] ?? 'calm');
}

/** The emphasis of each status that is no failure and not calm. */
const TONES: Readonly<Partial<Record<string, Tone>>> = {
  running: 'busy',
  waiting: 'busy',
  done: 'good'
};
