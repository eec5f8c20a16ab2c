import type { TranslationBundle } from '@jupyterlab/translation';
import type { INotebookSchedules } from '../schedules/notebookSchedules';
import { nextRun } from '../schedules/words';
import { iconOf, timeText } from '../words';

/** Return `next run Sat 22 Nov 09:00 · last ✓` of a notebook's schedules; empty when it has none. */
export function summaryOf(
  trans: TranslationBundle,
  known: INotebookSchedules | undefined,
  now: Date
): string {
  if (!known || known.schedules.length === 0) {
    return '';
  }
  const { schedules } = known;
  const coming = schedules.map(nextRun).filter(moment => moment !== null);
  const first =
    coming.length > 0 ? new Date(Math.min(...coming.map(moment => moment.getTime()))) : null;
  const last = schedules.find(one => one.last_action)?.last_action;
  const parts = [
    schedules.length > 1 ? trans.__('%1 schedules', schedules.length) : '',
    first ? trans.__('next run %1', timeText(first, now)) : trans.__('suspended'),
    last ? trans.__('last %1', iconOf(last.status)) : ''
  ];
  return parts.filter(part => part !== '').join(' · ');
}
