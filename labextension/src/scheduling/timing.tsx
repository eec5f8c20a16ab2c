import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, startTransition, useEffect, useId, useMemo, useState } from 'react';
import { allZones, isZone } from '../schedules/times';
import { intervalText } from '../schedules/words';
import { type Resource, useResource } from '../service';
import type { ISchedulePreview, TimeUnit } from '../service/records/schedules';
import { clock, day, timeText } from '../words';
import { comingTimes, nextTime } from './coming';
import { afterPaint } from './painting';
import { type IOption, SelectField, TextField } from '../forms';
import type { Problems } from './formProblems';
import type { IFormValues } from './formValues';
import { labelOf } from './labels';

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

/** The timetable: an interval with a start, or a cron expression. */
export function Timing(props: ITimingProps): JSX.Element {
  const { values, problems, set, trans } = props;
  const group = useId();
  const isCron = values.timing === 'cron';
  return (
    <fieldset className="jp-SvcForm-group">
      <legend>{trans.__('Run')}</legend>
      <div className="jp-SvcForm-row">
        <label className="jp-SvcCheck">
          <input
            type="radio"
            name={group}
            checked={!isCron}
            onChange={() => set({ timing: 'interval' })}
          />
          {trans.__('every')}
        </label>
        <TextField
          label={labelOf(trans, 'every')}
          value={values.every}
          problem={isCron ? undefined : problems.every}
          disabled={isCron}
          numeric
          onChange={every => set({ every })}
        />
        <SelectField
          label={labelOf(trans, 'unit')}
          value={values.unit}
          options={unitOptions(trans)}
          problem={isCron ? undefined : problems.unit}
          disabled={isCron}
          onChange={unit => set({ unit: unit as TimeUnit })}
        />
        <label className="jp-SvcCheck">
          <input
            type="radio"
            name={group}
            checked={isCron}
            onChange={() => set({ timing: 'cron' })}
          />
          {trans.__('by cron')}
        </label>
        <TextField
          label={labelOf(trans, 'cron')}
          value={values.cron}
          problem={isCron ? problems.cron : undefined}
          hint={isCron ? trans.__('minute, hour, day, month, weekday') : undefined}
          placeholder="0 9 * * 1-5"
          disabled={!isCron}
          onChange={cron => set({ cron })}
        />
      </div>
      <Coming {...props} />
      <Limits {...props} />
    </fieldset>
  );
}

function Limits({ values, problems, set, trans }: IPartProps): JSX.Element {
  const isCron = values.timing === 'cron';
  const names = useZones();
  const zones = useMemo(
    () => names.map(name => ({ value: name, label: name.replaceAll('_', ' ') })),
    [names]
  );
  return (
    <div className="jp-SvcForm-row">
      <TextField
        label={labelOf(trans, 'start')}
        placeholder={isCron ? '' : trans.__('now')}
        value={isCron ? '' : values.start}
        problem={isCron ? undefined : problems.start}
        hint={isCron ? trans.__('cron runs from the next matching time') : undefined}
        disabled={isCron}
        onChange={start => set({ start })}
      />
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
  const isWrong = error !== undefined && !error.isUnreachable;
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
    return preview === undefined ? trans.__('Next: …') : '';
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
