import type { TranslationBundle } from '@jupyterlab/translation';
import type { IClusterHealth, IServiceHealth } from '../service/records/clusters';
import { type IClusterView, phaseOf } from './view';
import { clockOf, percent } from './words';

/** The emphasis of an entry, besides its word. */
export type Tone = 'good' | 'warning' | 'bad' | 'calm';

/** One entry of health: a dot, a name, its status, and the reason. */
export interface IHealthEntry {
  dot: string;
  name: string;
  word: string;
  tone: Tone;
  reason: string;
}

const GOOD_DOT = '●';
const OFF_DOT = '○';
const BAD_DOT = '✗';
const UNKNOWN_DOT = '?';
/** The start of the service's reason for a daemon that was not needed yet. */
const NOT_STARTED = 'not started';

/**
 * Return an entry for each daemon of an UP cluster.
 *
 * With `doubt`, nothing is known since the view was fetched, so no entry is good.
 */
export function healthEntries(
  trans: TranslationBundle,
  view: IClusterView,
  doubt: string | null = null
): IHealthEntry[] {
  if (!view.health) {
    const reason = view.unread ?? trans.__('the service did not tell');
    return phaseOf(view) === 'UP'
      ? [unknown(trans, trans.__('health'), view, doubt ?? reason)]
      : [];
  }
  const found = known(trans, view);
  return doubt === null
    ? found
    : found.map((entry, place) => unknown(trans, entry.name, view, place === 0 ? doubt : ''));
}

/** Return the most important entry: the worst, else an unknown one; null when all are good. */
export function worstOf(entries: IHealthEntry[]): IHealthEntry | null {
  for (const tone of ['bad', 'warning'] as const) {
    const worst = entries.find(entry => entry.tone === tone);
    if (worst) {
      return worst;
    }
  }
  return entries.find(entry => entry.dot === UNKNOWN_DOT) ?? null;
}

/** Return the metrics of the coordinator and of YARN as text. */
export function figures(trans: TranslationBundle, view: IClusterView): string[] {
  if (!view.health) {
    return [];
  }
  const { system, engine } = view.health.metrics;
  const found = [
    trans.__('CPU %1', percent(trans, system.master.cpu_usage)),
    trans.__('disk %1', percent(trans, system.master.disk_usage))
  ];
  if (engine.yarn) {
    found.push(
      trans.__('YARN memory %1', percent(trans, engine.yarn.memory)),
      trans.__('%1 containers pending', engine.yarn.containers.pending)
    );
  }
  return found;
}

function known(trans: TranslationBundle, view: IClusterView): IHealthEntry[] {
  const daemons: Partial<IClusterHealth['metrics']['daemons']> = view.health?.metrics.daemons ?? {};
  const found: IHealthEntry[] = [];
  for (const name of ['namenode', 'resourcemanager'] as const) {
    const word = daemons[name];
    if (word) {
      found.push(daemon(name, word));
    }
  }
  if (daemons.hive_metastore) {
    found.push(service(trans, 'hive metastore', daemons.hive_metastore));
  }
  if (daemons.hs2_server) {
    found.push(service(trans, 'hiveserver2', daemons.hs2_server));
  }
  return found;
}

function daemon(name: string, word: string): IHealthEntry {
  const isUp = word === 'UP';
  return {
    dot: isUp ? GOOD_DOT : BAD_DOT,
    name,
    word,
    tone: isUp ? 'good' : 'bad',
    reason: ''
  };
}

function service(trans: TranslationBundle, name: string, health: IServiceHealth): IHealthEntry {
  const reason = health.reason ?? '';
  if (health.responsiveness_status === 'UP') {
    const { status, usage_percent } = health.heap;
    const tone: Tone = status === 'red' ? 'bad' : status === 'yellow' ? 'warning' : 'good';
    const heap = trans.__('UP, heap %1', percent(trans, usage_percent));
    const word = tone === 'good' ? heap : `${heap}, ${status}`;
    return { dot: GOOD_DOT, name, word, tone, reason: '' };
  }
  if (reason.startsWith(NOT_STARTED)) {
    const why = reason.slice(NOT_STARTED.length).replace(/^: /, '');
    const word = trans.__('not started');
    return { dot: OFF_DOT, name, word, tone: 'calm', reason: why };
  }
  const word = reason === '' ? health.liveliness_status : 'DOWN';
  return { dot: BAD_DOT, name, word, tone: 'bad', reason };
}

function unknown(
  trans: TranslationBundle,
  name: string,
  view: IClusterView,
  reason: string
): IHealthEntry {
  const word = trans.__('unknown since %1', clockOf(view.asOf));
  return { dot: UNKNOWN_DOT, name, word, tone: 'calm', reason };
}
