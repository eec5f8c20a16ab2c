import type { TranslationBundle } from '@jupyterlab/translation';
import type { ClusterPhase, IClusterRecord } from '../service/records/clusters';
import { wordsOfClusters } from '../statuses';
import { clock, span } from '../words';
import {
  type IClusterView,
  externalOf,
  isExternal,
  isMoving,
  maximumOf,
  minimumOf,
  phaseOf,
  typeOf,
  workersOf
} from './view';

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

/** Return a time of day with its seconds. */
export function clockOf(moment: Date): string {
  return clock(moment, { seconds: true });
}

/** Return `2–4`, or `2` when both are equal. */
export function sizes(trans: TranslationBundle, record: IClusterRecord): string {
  const low = minimumOf(record);
  const high = maximumOf(record);
  return high > low ? trans.__('%1–%2', low, high) : String(low);
}

/** Return `1 worker`, `3 workers`. */
export function workers(trans: TranslationBundle, count: number): string {
  return trans._n('%1 worker', '%1 workers', count);
}

/** Return `1 container`, `2 containers`. */
export function containers(trans: TranslationBundle, count: number): string {
  return trans._n('%1 container', '%1 containers', count);
}

/** Return `Hadoop`, or of a cluster that others run `external · Trino at trino.example.com`. */
export function engineWords(trans: TranslationBundle, record: IClusterRecord): string {
  if (!isExternal(record)) {
    return typeOf(record);
  }
  const [type, address] = externalOf(record);
  return trans.__('external · %1 at %2', type, hostOf(address));
}

function hostOf(address: string): string {
  return /^(?:jdbc:)?(?:\w+:\/\/)?(\[[^\]]*\]|[^:/;]*)/.exec(address)?.[1] ?? address;
}

/** Return the word of a state. */
export function phaseWord(trans: TranslationBundle, phase: ClusterPhase): string {
  return wordsOfClusters(trans).get(phase) ?? phase;
}

/** Return `up 2 h 14 min`, `starting 6 s`: the state, and for how long. */
export function stateWords(trans: TranslationBundle, view: IClusterView, now: Date): string {
  const { start_at, up_at } = view.state;
  const phase = phaseOf(view);
  const begun = phase === 'UP' ? up_at || start_at : phase === 'PENDING' ? start_at : null;
  return [phaseWord(trans, phase), since(trans, begun, now)].filter(Boolean).join(' ');
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
  if (isExternal(record)) {
    return trans.__('A start connects to it and checks the connection.');
  }
  return trans.__(
    'A start makes a coordinator and %1; about %2 s.',
    workers(trans, minimumOf(record)),
    START_SECONDS
  );
}

/** Return what the list says of a cluster below its name: its state, its size, and its health or what a start takes. */
export function listWords(trans: TranslationBundle, view: IClusterView, now: Date): string {
  const phase = phaseOf(view);
  const words = [stateWords(trans, view, now)];
  if (phase === 'DOWN' && !isExternal(view.record)) {
    words.push(trans.__('starts in about %1 s', START_SECONDS));
  } else if (phase === 'UP' && !isExternal(view.record)) {
    words.push(
      trans.__('%1 of %2 workers', workersOf(view.state).length, sizes(trans, view.record))
    );
  } else if (isMoving(phase) && view.state.message) {
    words.push(view.state.message);
  }
  return words.join(' · ');
}

/** Return `2 of 2–4`. */
export function workersLine(trans: TranslationBundle, view: IClusterView): string {
  return trans.__('%1 of %2', workersOf(view.state).length, sizes(trans, view.record));
}

/** Return a percentage of a record, a text, in readable form. */
export function percent(trans: TranslationBundle, text: string): string {
  const value = Number.parseFloat(text);
  return Number.isNaN(value) ? text : trans.__('%1 %', value.toFixed(0));
}
