import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { IScheduleBody, IScheduleRecord } from '../service/records/schedules';
import { bodyOf, valuesOf } from './formBody';
import { type IFormValues, LONGEST_MINUTES } from './formValues';
import { asOwn } from './parameters';

/** Objects that an edit replaces as a whole: parts that the form does not show are sent too. */
const WHOLES = ['command', 'dependency_info', 'notification'] as const;

/** The service's values of attributes that a form leaves empty: a service keeps what it is not sent. */
const CLEARED = {
  end_time: '',
  command_timeout: 60 * LONGEST_MINUTES,
  due_by: '',
  longer_than: 0
} as const;

/** Return the attributes whose values differ in the form. */
export function changedAttributes(record: IScheduleRecord, values: IFormValues): string[] {
  const before = bodyOf(valuesOf(record, declaredIn(values)));
  const after = bodyOf(values);
  const keys = new Set([...Object.keys(after), ...Object.keys(CLEARED)]) as Set<
    keyof IScheduleBody
  >;
  return [...keys].filter(key => !isSame(after[key], before[key]));
}

/** Return the attributes that an edit changes; values unchanged in the form are omitted. */
export function changesOf(record: IScheduleRecord, values: IFormValues): IScheduleBody {
  const after: IScheduleBody = { ...CLEARED, ...bodyOf(values) };
  const changes: Record<string, unknown> = {};
  for (const key of changedAttributes(record, values)) {
    changes[key] = after[key as keyof IScheduleBody];
  }
  if ('time_unit' in changes && after.frequency !== undefined) {
    changes.frequency = after.frequency;
  }
  for (const key of WHOLES) {
    if (key in changes) {
      changes[key] = { ...record[key], ...after[key] };
    }
  }
  return changes;
}

/** Return the parameters with the notebook's own values, which are not part of the schedule. */
function declaredIn(values: IFormValues): IFormValues['parameters'] {
  return values.parameters.filter(one => one.own !== null).map(asOwn);
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) {
    return one === other;
  }
  return JSONExt.deepEqual(one as ReadonlyPartialJSONValue, other as ReadonlyPartialJSONValue);
}
