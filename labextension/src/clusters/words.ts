import type { TranslationBundle } from '@jupyterlab/translation';
import type { IClusterRecord } from '../service/records/clusters';
import { span } from '../words';
import { type IClusterView, maximumOf, minimumOf, phaseOf, workersOf } from './view';

/** Approximate start time of a local Hadoop cluster, in seconds (measured on two cores). */
const START_SECONDS = 12;

/** Return the time since a time of a record; empty for a missing or invalid one. */
export function since(
  trans: TranslationBundle,
  time: string | null | undefined,
  now: Date
): string {
  const then = time ? Date.parse(time) : NaN;
  return Number.isNaN(then) ? '' : span(trans, (now.getTime() - then) / 1000);
}

/** Return a time in local time. */
export function clockOf(moment: Date): string {
  return moment.toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false
  });
}

/** Return `2 to 4`, or `2` when both are equal. */
export function sizes(trans: TranslationBundle, record: IClusterRecord): string {
  const low = minimumOf(record);
  const high = maximumOf(record);
  return high > low ? trans.__('%1 to %2', low, high) : String(low);
}

/** Return `1 worker`, `3 workers`. */
export function workers(trans: TranslationBundle, count: number): string {
  return trans._n('%1 worker', '%1 workers', count);
}

/** Return `UP 2 h 14 min`, `PENDING 6 s`: the state, and for how long. */
export function stateWords(trans: TranslationBundle, view: IClusterView, now: Date): string {
  const { start_at, up_at } = view.state;
  const phase = phaseOf(view);
  const begun = phase === 'UP' ? up_at || start_at : phase === 'PENDING' ? start_at : null;
  return [phase, since(trans, begun, now)].filter(Boolean).join(' ');
}

/** Return the current operation, or why the cluster is down; else empty. */
export function doing(trans: TranslationBundle, view: IClusterView): string {
  switch (phaseOf(view)) {
    case 'PENDING':
      return view.state.message || trans.__('starting');
    case 'TERMINATING':
      return view.state.message || trans.__('terminating');
    case 'DOWN':
      return view.state.terminate_reason
        ? trans.__('Last: %1.', view.state.terminate_reason)
        : trans.__('Never started.');
    default:
      return view.state.message || '';
  }
}

/** Return what a start will do. */
export function startWords(trans: TranslationBundle, record: IClusterRecord): string {
  return trans.__(
    'A start makes a coordinator and %1; about %2 s.',
    workers(trans, minimumOf(record)),
    START_SECONDS
  );
}

/** Return `Workers 2 of 2 to 4`. */
export function workersLine(trans: TranslationBundle, view: IClusterView): string {
  return trans.__('Workers %1 of %2', workersOf(view.state).length, sizes(trans, view.record));
}

/** Return the size of a cluster in a list, `2/4`: its workers and its configured maximum. */
export function sizeWords(record: IClusterRecord, count: number): string {
  return `${count}/${maximumOf(record) || minimumOf(record)}`;
}

/** Return a percentage of a record, a text, in readable form. */
export function percent(trans: TranslationBundle, text: string): string {
  const value = Number.parseFloat(text);
  return Number.isNaN(value) ? text : trans.__('%1 %', value.toFixed(0));
}
