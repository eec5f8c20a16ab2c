import type { JSX } from 'react';
import type { INotificationChannel } from '../service/records/schedules';
import { DependencyRows } from './dependencyRows';
import { CheckField, SelectField, TextField } from '../forms';
import { alertLimits } from '../schedules/words';
import { Fold } from './fold';
import type { FieldName } from './formValues';
import { labelOf } from './labels';
import type { IPartProps } from './timing';

const RETRIES = ['0', '1', '2', '3'].map(value => ({ value, label: value }));
const OF_FAILURE: readonly FieldName[] = ['retry', 'retryDelay', 'timeout'];
const OF_ALERTS: readonly FieldName[] = ['dueBy', 'longerThan'];
const OF_MISSED: readonly FieldName[] = ['skipMissed', 'concurrency'];
const OF_DEPENDENCIES: readonly FieldName[] = [
  'files',
  'tables',
  'timeOut',
  'stepEvery',
  'stepUnit'
];
const OF_NOTIFICATION: readonly FieldName[] = ['digest', 'digestTime', 'channels'];

/** Options that most schedules leave unchanged, collapsed; a part with a problem is expanded. */
export function RunOptions(
  props: IPartProps & { channels: readonly INotificationChannel[]; refusals: number }
): JSX.Element {
  const { values, problems, refusals, trans } = props;
  const isWrong = (fields: readonly FieldName[]): boolean =>
    Object.keys(problems).some(key => fields.includes(key.split('.')[0] as FieldName));
  const waitsFor = values.files.length + values.tables.length;
  return (
    <>
      <Fold
        title={trans.__('If a run fails')}
        summary={trans.__('retry %1 of 3', values.retry)}
        open={isWrong(OF_FAILURE)}
        refusals={refusals}
      >
        <IfARunFails {...props} />
      </Fold>
      <Fold
        title={trans.__('If a run is late or slow')}
        summary={alertsText(props)}
        open={isWrong(OF_ALERTS)}
        refusals={refusals}
      >
        <IfARunIsLate {...props} />
      </Fold>
      <Fold
        title={labelOf(trans, 'missed')}
        summary={values.skipMissed ? trans.__('are dropped') : trans.__('are made up for')}
        open={isWrong(OF_MISSED)}
        refusals={refusals}
      >
        <MissedRuns {...props} />
      </Fold>
      <Fold
        title={labelOf(trans, 'dependencies')}
        summary={waitsFor === 0 ? trans.__('none') : String(waitsFor)}
        open={isWrong(OF_DEPENDENCIES)}
        refusals={refusals}
      >
        <DependencyRows {...props} />
      </Fold>
      <Fold
        title={labelOf(trans, 'notifications')}
        summary={toldText(props)}
        open={isWrong(OF_NOTIFICATION)}
        refusals={refusals}
      >
        <Notifications {...props} />
      </Fold>
    </>
  );
}

function IfARunFails({ values, problems, set, trans }: IPartProps): JSX.Element {
  return (
    <div className="jp-SvcForm-row">
      <SelectField
        label={labelOf(trans, 'retry')}
        value={values.retry}
        options={RETRIES}
        problem={problems.retry}
        onChange={retry => set({ retry })}
      />
      <TextField
        label={labelOf(trans, 'retryDelay')}
        value={values.retryDelay}
        problem={problems.retryDelay}
        disabled={values.retry === '0'}
        numeric
        onChange={retryDelay => set({ retryDelay })}
      />
      <TextField
        label={labelOf(trans, 'timeout')}
        value={values.timeout}
        problem={problems.timeout}
        hint={values.timeout === '' ? trans.__('after 36 hours') : undefined}
        numeric
        onChange={timeout => set({ timeout })}
      />
    </div>
  );
}

function IfARunIsLate({ values, problems, set, trans }: IPartProps): JSX.Element {
  return (
    <>
      <div className="jp-SvcForm-row">
        <TextField
          label={labelOf(trans, 'dueBy')}
          placeholder="08:00"
          value={values.dueBy}
          problem={problems.dueBy}
          onChange={dueBy => set({ dueBy })}
        />
        <TextField
          label={labelOf(trans, 'longerThan')}
          placeholder="3"
          value={values.longerThan}
          problem={problems.longerThan}
          numeric
          onChange={longerThan => set({ longerThan })}
        />
      </div>
      <div className="jp-SvcMuted">
        {trans.__(
          'An alert is sent while the run goes on, to the channels under Notifications, or to you by e-mail.'
        )}
      </div>
    </>
  );
}

function MissedRuns({ values, problems, set, trans }: IPartProps): JSX.Element {
  return (
    <>
      <CheckField
        label={trans.__('Skip runs that were missed while the service or the schedule was stopped')}
        checked={values.skipMissed}
        onChange={skipMissed => set({ skipMissed })}
      />
      <div className="jp-SvcForm-row">
        <TextField
          label={labelOf(trans, 'concurrency')}
          value={values.concurrency}
          problem={problems.concurrency}
          numeric
          onChange={concurrency => set({ concurrency })}
        />
      </div>
    </>
  );
}

function Notifications(
  props: IPartProps & { channels: readonly INotificationChannel[] }
): JSX.Element {
  const { values, problems, set, trans, channels } = props;
  const toggle = (id: number, wanted: boolean): void =>
    set({
      channels: wanted ? [...values.channels, id] : values.channels.filter(one => one !== id)
    });
  return (
    <>
      <CheckField
        label={trans.__('Tell of failed runs')}
        checked={values.notifyFailure}
        onChange={notifyFailure => set({ notifyFailure })}
      />
      <CheckField
        label={trans.__('Tell of runs that succeeded')}
        checked={values.notifySuccess}
        onChange={notifySuccess => set({ notifySuccess })}
      />
      <CheckField
        label={trans.__('Once a day, all together')}
        checked={values.digest}
        onChange={digest => set({ digest })}
      />
      {values.digest && (
        <div className="jp-SvcForm-row">
          <TextField
            label={labelOf(trans, 'digestTime')}
            placeholder="18:30"
            value={values.digestTime}
            problem={problems.digest}
            onChange={digestTime => set({ digestTime })}
          />
        </div>
      )}
      <div role="group" aria-label={trans.__('Channels')}>
        {channels.length === 0 && (
          <div className="jp-SvcMuted">
            {trans.__('You are notified by e-mail. The account has no other channels.')}
          </div>
        )}
        {channels.map(channel => (
          <CheckField
            key={channel.id}
            label={trans.__('Tell %1 (%2)', channel.name, channel.type)}
            checked={values.channels.includes(channel.id)}
            onChange={wanted => toggle(channel.id, wanted)}
          />
        ))}
        {problems.channels !== undefined && (
          <div className="jp-SvcField-problem">✗ {problems.channels}</div>
        )}
      </div>
    </>
  );
}

function alertsText({ values, trans }: IPartProps): string {
  const limits = alertLimits(trans, values.dueBy.trim(), values.longerThan.trim());
  return limits === '' ? trans.__('no alert') : trans.__('alert: %1', limits);
}

function toldText({ values, trans }: IPartProps): string {
  if (values.notifyFailure && values.notifySuccess) {
    return trans.__('of every run');
  }
  if (values.notifyFailure) {
    return trans.__('of failed runs');
  }
  return values.notifySuccess ? trans.__('of runs that succeeded') : trans.__('none');
}
