import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { IScheduleBody, IScheduleRecord } from '../service/records/schedules';
import { bodyOf, valuesOf } from './formBody';
import type { IFormValues } from './formValues';

/** Return the attributes that an edit changes; what the form shows as it was is left as it is. */
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
  if ('time_unit' in changes && after.frequency !== undefined) {
    changes.frequency = after.frequency;
  }
  if ('command' in changes) {
    changes.command = { ...record.command, ...after.command };
  }
  return changes;
}

/** What the form knows of the notebook's own values, which are no part of the schedule. */
function declaredIn(values: IFormValues): IFormValues['parameters'] {
  return values.parameters
    .filter(one => one.byDefault !== null)
    .map(one => ({ ...one, text: one.byDefault ?? '' }));
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) {
    return one === other;
  }
  return JSONExt.deepEqual(one as ReadonlyPartialJSONValue, other as ReadonlyPartialJSONValue);
}
