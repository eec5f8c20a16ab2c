import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useCallback, useEffect, useRef } from 'react';
import { momentOf } from '../schedules/times';
import { nextRun, nextText, timetableText } from '../schedules/words';
import { type Resource, useResource, useSignal } from '../service';
import type { IClusterRecord } from '../service/records/clusters';
import type { INote } from '../service/records/notes';
import type { INotificationChannel, IScheduleRecord } from '../service/records/schedules';
import { wordsOfClusters } from '../statuses';
import { FormButton, type IOption, SelectField, TextField } from '../forms';
import { nextTime } from './coming';
import type { IFormState, ScheduleFormModel } from './formModel';
import { labelOf } from './labels';
import { afterPaint } from './painting';
import { ParameterRows } from './parameterRows';
import { RunOptions } from './runOptions';
import { Timing } from './timing';

/** The cluster of a schedule without one. */
const DEFAULT_LABEL = 'default';

/** The actions of the form's buttons, besides changing values. */
export interface IFormSteps {
  submit: () => void;
  runOnce: () => void;
  cancel: () => void;
  edit: (schedule: IScheduleRecord) => void;
  rename: () => void;
}

/** The choices of the form. */
export interface IChoices {
  clusters: Resource<IClusterRecord[]>;
  channels: Resource<INotificationChannel[]>;
}

/** The form that schedules a notebook or edits a schedule. */
export function ScheduleFormView(props: {
  model: ScheduleFormModel;
  steps: IFormSteps;
  choices: IChoices;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, steps, choices, trans } = props;
  const state = useSignal(model.changed, () => model.state);
  const clusters = useResource(choices.clusters);
  const channels = useResource(choices.channels);
  const { values, problems } = state;
  const part = {
    values,
    problems,
    trans,
    set: useCallback<typeof model.set>(v => model.set(v), [model])
  };
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (state.refusals > 0) {
      // a fold with a marked field opens first
      afterPaint(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
    }
  }, [state.refusals]);
  return (
    <form
      ref={form}
      className="jp-SvcForm"
      aria-label={trans.__('Schedule %1', model.source.name)}
      onSubmit={event => {
        event.preventDefault();
        steps.submit();
      }}
    >
      <Header model={model} state={state} trans={trans} />
      <Remarks model={model} state={state} steps={steps} trans={trans} />
      <div className="jp-SvcForm-row">
        <TextField
          label={labelOf(trans, 'name')}
          value={values.name}
          problem={problems.name}
          autoFocus
          onChange={name => model.set({ name })}
        />
        <SelectField
          label={labelOf(trans, 'label')}
          value={values.label}
          options={clusterOptions(trans, clusters.value ?? [], values.label, state.note)}
          problem={problems.label}
          onChange={label => model.set({ label })}
        />
      </div>
      <Timing {...part} preview={model.preview} isPreviewCurrent={model.isPreviewCurrent} />
      <ParameterRows {...part} unreadable={state.unreadable} note={state.note} />
      <RunOptions {...part} channels={channels.value ?? []} refusals={state.refusals} />
      <Warnings model={model} state={state} trans={trans} />
      {model.record !== null && <Changes model={model} record={model.record} trans={trans} />}
      <div className="jp-SvcForm-end">
        <div className="jp-SvcForm-failure" role="alert">
          {state.failure ?? ''}
        </div>
        <div className="jp-SvcForm-buttons">
          <FormButton label={trans.__('Cancel')} onClick={steps.cancel} />
          <FormButton
            label={trans.__('Run once now')}
            disabled={state.isWorking}
            onClick={steps.runOnce}
          />
          <button type="submit" className="jp-SvcButton jp-mod-accept" disabled={state.isWorking}>
            {model.record === null ? trans.__('Schedule') : trans.__('Save the changes')}
          </button>
        </div>
      </div>
    </form>
  );
}

interface IShown {
  model: ScheduleFormModel;
  state: IFormState;
  trans: TranslationBundle;
}

function Header({ model, state, trans }: IShown): JSX.Element {
  const title = model.record
    ? trans.__('Edit schedule %1', model.record.name)
    : trans.__('Schedule');
  return (
    <div className="jp-SvcForm-header">
      <h2>
        {title} <span className="jp-SvcForm-path">{model.source.name}</span>
      </h2>
      <span role="status">{savingText(state, trans)}</span>
    </div>
  );
}

function savingText({ saving }: IFormState, trans: TranslationBundle): string {
  if (typeof saving === 'object') {
    return `✗ ${saving.problem}`;
  }
  const words = {
    saving: trans.__('saving…'),
    now: trans.__('saved just now ✓'),
    before: trans.__('saved ✓')
  };
  return words[saving];
}

function Remarks(props: IShown & { steps: IFormSteps }): JSX.Element {
  const { model, state, steps, trans } = props;
  const now = new Date();
  return (
    <>
      {model.source.isUntitled && model.record === null && (
        <p className="jp-SvcRemark">
          {trans.__(
            '%1 has no name of its own yet. A schedule is found by it: better rename the notebook first.',
            model.source.name
          )}{' '}
          <FormButton kind="minimal" label={trans.__('Rename…')} onClick={steps.rename} />
        </p>
      )}
      {model.record === null &&
        state.others.map(other => (
          <p className="jp-SvcRemark" key={other.id}>
            {trans.__(
              'The notebook already has the schedule %1: %2, %3.',
              other.name,
              timetableText(trans, other),
              nextText(trans, other, now)
            )}{' '}
            <FormButton
              kind="minimal"
              label={trans.__('Edit schedule %1', other.name)}
              onClick={() => steps.edit(other)}
            />
          </p>
        ))}
    </>
  );
}

function Warnings({ model, state, trans }: IShown): JSX.Element {
  return (
    <>
      {state.warnings.map(warning => (
        <p className="jp-SvcRemark" role="note" key={warning.number} title={warning.text}>
          {warning.isError
            ? trans.__(
                '! Cell %1 ends in an error when run; the run would stop there. Correct it, or tag it raises-exception to go on.',
                warning.number
              )
            : trans.__(
                '! Cell %1 shows a warning when run; the run would stop there. Tag it raises-exception to go on.',
                warning.number
              )}{' '}
          {model.source.showCell && (
            <FormButton
              kind="minimal"
              label={trans.__('Show cell %1', warning.number)}
              onClick={() => void model.source.showCell?.(warning.number)}
            />
          )}
        </p>
      ))}
    </>
  );
}

/** The changes of an edit, and their effect on the next run. */
function Changes(props: {
  model: ScheduleFormModel;
  record: IScheduleRecord;
  trans: TranslationBundle;
}): JSX.Element {
  const { model, record, trans } = props;
  const { value } = useResource(model.preview);
  const changed = model.changedLabels;
  if (changed.length === 0) {
    return <p className="jp-SvcRemark">{trans.__('Nothing is changed yet.')}</p>;
  }
  const now = new Date();
  const before = nextRun(record);
  const after = momentOf(value?.next_times?.[0], 'UTC');
  const shown = (moment: Date | null, zone: string): string =>
    moment ? nextTime(moment, now, zone) : trans.__('none');
  const zone = model.state.values.timeZone;
  const moves = value?.next_times !== undefined && before?.getTime() !== after?.getTime();
  return (
    <p className="jp-SvcRemark" role="status">
      {trans.__('Changed: %1.', changed.join(', '))}{' '}
      {moves && record.status === 'RUNNING'
        ? trans.__(
            'Next run: %1 instead of %2.',
            shown(after, zone),
            shown(before, record.time_zone)
          )
        : trans.__('It counts from the next run on: %1.', nextText(trans, record, now))}
    </p>
  );
}

/** Return the clusters by label, with their states; no label means the default cluster, or that of the note. */
function clusterOptions(
  trans: TranslationBundle,
  clusters: readonly IClusterRecord[],
  chosen: string,
  note: INote | null
): IOption[] {
  const words = wordsOfClusters(trans);
  const isMeant = ({ id, label: [first] }: IClusterRecord, label: string): boolean =>
    note ? id === note.cluster_id && label === first : label === DEFAULT_LABEL;
  const options = clusters
    .filter(cluster => !note || cluster.hadoop_settings?.use_spark)
    .flatMap(cluster =>
      cluster.label.map(label => ({
        value: chosen === '' && isMeant(cluster, label) ? '' : label,
        label: trans.__('%1 · %2', label, words.get(cluster.state) ?? cluster.state)
      }))
    );
  const isThere = options.some(option => option.value === chosen);
  const none = note ? trans.__('the cluster of the note') : DEFAULT_LABEL;
  return isThere ? options : [{ value: chosen, label: chosen || none }, ...options];
}
