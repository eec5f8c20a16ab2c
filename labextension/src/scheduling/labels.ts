import type { TranslationBundle } from '@jupyterlab/translation';
import type { FieldName } from './formValues';

/** A field with a label of its own. */
export type LabelledField = Exclude<
  FieldName,
  | 'timing'
  | 'skipMissed'
  | 'files'
  | 'tables'
  | 'notifyFailure'
  | 'notifySuccess'
  | 'digest'
  | 'channels'
>;

/** A part of the form that is changed as a whole, under its heading. */
type Part = 'timetable' | 'missed' | 'dependencies' | 'notifications';

/** Maps the service's attributes to the fields that hold them alone. */
export const LABELLED_FIELDS: Readonly<Record<string, LabelledField>> = {
  name: 'name',
  // eslint-disable-next-line jupyter/no-untranslated-string -- an attribute's name
  label: 'label',
  frequency: 'every',
  time_unit: 'unit',
  cron_expression: 'cron',
  start_time: 'start',
  end_time: 'end',
  time_zone: 'timeZone',
  concurrency: 'concurrency',
  retry: 'retry',
  retry_delay: 'retryDelay',
  command_timeout: 'timeout',
  time_out: 'timeOut',
  due_by: 'dueBy',
  longer_than: 'longerThan'
};
const PLACES: Readonly<Record<string, LabelledField | Part>> = {
  ...LABELLED_FIELDS,
  frequency: 'timetable',
  time_unit: 'timetable',
  cron_expression: 'timetable',
  start_time: 'timetable',
  no_catch_up: 'missed',
  command: 'parameters',
  dependency_info: 'dependencies',
  notification: 'notifications'
};

/** Return the label of a field, or the heading of a part, as the form shows it. */
export function labelOf(trans: TranslationBundle, place: LabelledField | Part): string {
  switch (place) {
    case 'name':
      return trans.__('Name');
    case 'label':
      return trans.__('Cluster');
    case 'every':
      return trans.__('Number');
    case 'unit':
      return trans.__('Unit');
    case 'times':
      return trans.__('Times of day');
    case 'weekdays':
      return trans.__('Weekdays');
    case 'monthDays':
      return trans.__('Days of the month');
    case 'cron':
      return trans.__('Cron expression');
    case 'at':
      return trans.__('At');
    case 'start':
      return trans.__('Start');
    case 'end':
      return trans.__('End');
    case 'timeZone':
      return trans.__('Time zone');
    case 'parameters':
      return trans.__('Parameters');
    case 'retry':
      return trans.__('Retries');
    case 'retryDelay':
      return trans.__('Pause before a retry (minutes)');
    case 'timeout':
      return trans.__('Time limit (minutes)');
    case 'concurrency':
      return trans.__('Maximum concurrent runs');
    case 'timeOut':
      return trans.__('Wait at most (minutes, 0 = no limit)');
    case 'stepEvery':
      return trans.__('A step is');
    case 'stepUnit':
      return trans.__('Unit of a step');
    case 'dueBy':
      return trans.__('Has not ended by (time of day)');
    case 'longerThan':
      return trans.__('Takes over (× median)');
    case 'digestTime':
      return trans.__('At');
    case 'timetable':
      return trans.__('Timetable');
    case 'missed':
      return trans.__('Missed runs');
    case 'dependencies':
      return trans.__('Dependencies');
    case 'notifications':
      return trans.__('Notifications');
  }
}

/** Return the labels of what holds these attributes of the service, each once. */
export function labelsOf(trans: TranslationBundle, attributes: readonly string[]): string[] {
  const places = attributes.map(one => PLACES[one]).filter(place => place !== undefined);
  return [...new Set(places)].map(place => labelOf(trans, place));
}
