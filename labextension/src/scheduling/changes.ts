import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { IScheduleBody, IScheduleRecord } from '../service/records/schedules';
import { bodyOf, valuesOf } from './formBody';
import { type IFormValues, LONGEST_MINUTES } from './formValues';
import { asOwn } from './parameters';

/** Objects that an edit replaces as a whole: parts that the form does not show are sent too. */
const WHOLES = ['command', 'dependency_info', 'notification'] as const;

/** Return the attributes that an edit changes; values unchanged in the form are omitted. */
export function changesOf(record: IScheduleRecord, values: IFormValues): IScheduleBody {
  const before = bodyOf(valuesOf(record, declaredIn(values)));
  const after = bodyOf(values);
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(after)) {
    if (!isSame(value, before[key as keyof IScheduleBody])) {
      changes[key] = value;
    }
  }
  if (before.end_time !== undefined && after.end_time === undefined) {
    changes.end_time = '';
  }
  if (before.command_timeout !== undefined && after.command_timeout === undefined) {
    changes.command_timeout = 60 * LONGEST_MINUTES; // a service keeps what it is not sent
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
