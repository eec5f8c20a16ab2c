import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, startTransition, useEffect, useId, useMemo, useState } from 'react';
import { allZones, isZone } from '../schedules/times';
import { intervalText } from '../schedules/words';
import { type Resource, useResource } from '../service';
import type { ISchedulePreview, TimeUnit } from '../service/records/schedules';
import { clock, day, timeText, weekdayName } from '../words';
import { comingTimes, nextTime } from './coming';
import { afterPaint } from './painting';
import { type IOption, Segment, Segments, SelectField, TextField } from '../forms';
import { cronOf, timesOf } from './cronTimes';
import type { Problems } from './formProblems';
import type { IFormValues } from './formValues';
import { labelOf } from './labels';

const WEEK_FROM_MONDAY = [1, 2, 3, 4, 5, 6, 0];

/** Properties of every part of the form. */
export interface IPartProps {
  values: IFormValues;
  problems: Problems;
  set: (values: Partial<IFormValues>) => void;
  trans: TranslationBundle;
}

/** Return the units of time as options. */
export function unitOptions(trans: TranslationBundle): IOption[] {
  return [
    { value: 'minutes', label: trans.__('minutes') },
    { value: 'hours', label: trans.__('hours') },
    { value: 'days', label: trans.__('days') },
    { value: 'weeks', label: trans.__('weeks') },
    { value: 'months', label: trans.__('months') }
  ];
}

interface ITimingProps extends IPartProps {
  preview: Resource<ISchedulePreview>;
  /** Whether it is of the form's current timetable; otherwise it is not shown. */
  isPreviewCurrent: boolean;
}

/** The timetable: an interval with a start, times on days, or a cron expression. */
export function Timing(props: ITimingProps): JSX.Element {
  const { values, set, trans } = props;
  const ways = [
    { value: 'interval', label: trans.__('Every') },
    { value: 'times', label: trans.__('At times') },
    { value: 'cron', label: trans.__('Cron') }
  ] as const;
  return (
    <fieldset className="jp-SvcForm-group">
      <legend>{trans.__('Run')}</legend>
      <Segments
        value={values.timing}
        options={ways}
        onChange={timing => set(changedTo(timing, values))}
      />
      <div className="jp-SvcForm-row">
        {values.timing === 'interval' && <Interval {...props} />}
        {values.timing === 'times' && <Times {...props} />}
        {values.timing === 'cron' && <Cron {...props} />}
      </div>
      <Coming {...props} />
      <Limits {...props} />
    </fieldset>
  );
}

/** Return the values with another kind of timetable: times and a cron expression are written as each other. */
function changedTo(timing: IFormValues['timing'], values: IFormValues): Partial<IFormValues> {
  const read = timesOf(values.cron);
  if (timing === 'times' && values.timing === 'cron' && read) {
    return { timing, ...read };
  }
  const isOwn = values.cron.trim() !== '' && !read; // what times cannot say is kept
  const cron = values.timing === 'times' && !isOwn ? cronOf(values) : null;
  return { timing, ...(timing === 'cron' && cron !== null && { cron }) };
}

function Interval({ values, problems, set, trans }: IPartProps): JSX.Element {
  return (
    <>
      <TextField
        label={labelOf(trans, 'every')}
        value={values.every}
        problem={problems.every}
        numeric
        onChange={every => set({ every })}
      />
      <SelectField
        label={labelOf(trans, 'unit')}
        value={values.unit}
        options={unitOptions(trans)}
        problem={problems.unit}
        onChange={unit => set({ unit: unit as TimeUnit })}
      />
      <TextField
        label={isShorterThanADay(values.unit) ? trans.__('From') : labelOf(trans, 'at')}
        value={values.at}
        problem={problems.at}
        placeholder={trans.__('now')}
        onChange={at => set({ at })}
      />
    </>
  );
}

function isShorterThanADay(unit: TimeUnit): boolean {
  return unit === 'minutes' || unit === 'hours';
}

function Times({ values, problems, set, trans }: IPartProps): JSX.Element {
  return (
    <>
      <TextField
        label={labelOf(trans, 'times')}
        value={values.times}
        problem={problems.times}
        placeholder="09:00, 17:00"
        onChange={times => set({ times })}
      />
      <Weekdays values={values} set={set} trans={trans} />
      <TextField
        label={labelOf(trans, 'monthDays')}
        value={values.monthDays}
        problem={problems.monthDays}
        hint={daysHint(trans, values)}
        placeholder={trans.__('1, 15, last')}
        onChange={monthDays => set({ monthDays })}
      />
    </>
  );
}

/** Return how the days count together: either of them is enough, as in cron. */
function daysHint(
  trans: TranslationBundle,
  { weekdays, monthDays }: IFormValues
): string | undefined {
  const hasDays = monthDays.trim() !== '';
  if (weekdays.length === 0) {
    return hasDays ? undefined : trans.__('runs every day');
  }
  return hasDays ? trans.__('runs on these days, and on the weekdays') : undefined;
}

function Weekdays({ values, set, trans }: Omit<IPartProps, 'problems'>): JSX.Element {
  const id = useId();
  const { weekdays } = values;
  return (
    <div className="jp-SvcField jp-SvcWeekdays" role="group" aria-labelledby={id}>
      <span id={id}>{labelOf(trans, 'weekdays')}</span>
      <div className="jp-SvcSegments">
        {WEEK_FROM_MONDAY.map(number => (
          <Segment
            key={number}
            type="checkbox"
            text={weekdayName(number, 'short')}
            label={weekdayName(number, 'long')}
            checked={weekdays.includes(number)}
            onChange={checked =>
              set({
                weekdays: checked ? [...weekdays, number] : weekdays.filter(one => one !== number)
              })
            }
          />
        ))}
      </div>
    </div>
  );
}

function Cron({ values, problems, set, trans }: IPartProps): JSX.Element {
  return (
    <TextField
      label={labelOf(trans, 'cron')}
      value={values.cron}
      problem={problems.cron}
      hint={trans.__('minute, hour, day, month, weekday')}
      placeholder="0 9 * * 1-5"
      onChange={cron => set({ cron })}
    />
  );
}

function Limits({ values, problems, set, trans }: IPartProps): JSX.Element {
  const names = useZones();
  const zones = useMemo(
    () => names.map(name => ({ value: name, label: name.replaceAll('_', ' ') })),
    [names]
  );
  return (
    <div className="jp-SvcForm-row">
      {values.timing === 'interval' && (
        <TextField
          label={labelOf(trans, 'start')}
          placeholder={startHint(trans, values)}
          value={values.start}
          problem={problems.start}
          onChange={start => set({ start })}
        />
      )}
      <TextField
        label={labelOf(trans, 'end')}
        placeholder={trans.__('never')}
        value={values.end}
        problem={problems.end}
        onChange={end => set({ end })}
      />
      <TextField
        label={labelOf(trans, 'timeZone')}
        value={values.timeZone}
        suggestions={zones}
        problem={problems.timeZone}
        onChange={timeZone => set({ timeZone })}
      />
    </div>
  );
}

function startHint(trans: TranslationBundle, { at, unit }: IFormValues): string {
  if (at.trim() === '') {
    return trans.__('now');
  }
  return isShorterThanADay(unit) ? trans.__('the next time') : trans.__('the next %1', at);
}

/** Return the zones to find by typing: none for the first render, which four hundred options would delay. */
function useZones(): readonly string[] {
  const [zones, setZones] = useState<readonly string[]>([]);
  useEffect(() => afterPaint(() => startTransition(() => setZones(allZones()))), []);
  return zones;
}

/** The timetable in words and its next times, as the service understands it; its lines are always present. */
function Coming({ values, problems, trans, preview, isPreviewCurrent }: ITimingProps): JSX.Element {
  const { value: answered, error } = useResource(preview);
  const value = isPreviewCurrent ? answered : undefined;
  const hasNoTimes = value !== undefined && !value.next_times; // there is no timetable yet
  const isWrong = hasNoTimes || (error !== undefined && !error.isUnreachable);
  const isMarked = Object.keys(problems).length > 0;
  const words = value?.description ?? ownWords(trans, values);
  return (
    <div className="jp-SvcForm-coming" role="status">
      <div>{sentence(words)}</div>
      <div>
        {error?.isUnreachable === true
          ? trans.__(
              'The next runs are not known just now: %1. What you typed is kept.',
              error.message
            )
          : isWrong
            ? isMarked
              ? trans.__('Fix the marked fields to see the next runs')
              : trans.__('Fill in the form to see the next runs')
            : nextTimes(trans, value, values.timeZone)}
      </div>
    </div>
  );
}

function ownWords(trans: TranslationBundle, values: IFormValues): string {
  if (values.timing === 'cron') {
    return trans.__('By a cron expression (%1)', values.timeZone);
  }
  if (values.timing === 'times') {
    return trans.__('At %1 (%2)', values.times, values.timeZone);
  }
  const every = Number(values.every);
  return Number.isInteger(every) && every > 0
    ? `${intervalText(trans, every, values.unit)} (${values.timeZone})`
    : '';
}

function nextTimes(
  trans: TranslationBundle,
  preview: ISchedulePreview | undefined,
  typed: string
): string {
  const times = preview?.next_times;
  const zone = isZone(typed) ? typed : 'UTC';
  if (!times) {
    return trans.__('Next: …');
  }
  const now = new Date();
  const [first, ...others] = comingTimes(times, now);
  if (first === undefined) {
    return trans.__('Next: never, as it stands');
  }
  const hasOneClock = others.every(moment => clock(moment, { zone }) === clock(first, { zone }));
  const shown = others.map(moment =>
    hasOneClock ? day(moment, now, { zone }) : timeText(moment, first, { zone })
  );
  return trans.__('Next: %1', [nextTime(first, now, zone), ...shown].join(' · '));
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
