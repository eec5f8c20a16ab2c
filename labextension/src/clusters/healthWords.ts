import type { TranslationBundle } from '@jupyterlab/translation';
import type { Tone } from '../list';
import type { IClusterHealth, IServiceHealth } from '../service/records/clusters';
import { wordsOfClusters } from '../statuses';
import { type IClusterView, isExternal, phaseOf, typeOf } from './view';
import { clockOf, percent } from './words';

export type { Tone };

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
      ? [unknown(trans, trans.__('Health'), view, doubt ?? reason)]
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

/** Return the metrics of the coordinator and of YARN: a name and a value each. */
export function figures(trans: TranslationBundle, view: IClusterView): [string, string][] {
  if (!view.health || isExternal(view.record)) {
    return [];
  }
  const { system, engine } = view.health.metrics;
  const found: [string, string][] = [
    [trans.__('CPU'), percent(trans, system.master.cpu_usage)],
    [trans.__('Disk'), percent(trans, system.master.disk_usage)]
  ];
  if (engine.yarn) {
    found.push(
      [trans.__('YARN memory'), percent(trans, engine.yarn.memory)],
      [trans.__('Pending containers'), engine.yarn.containers.pending]
    );
  }
  return found;
}

function known(trans: TranslationBundle, view: IClusterView): IHealthEntry[] {
  const daemons: Partial<IClusterHealth['metrics']['daemons']> = view.health?.metrics.daemons ?? {};
  const found: IHealthEntry[] = [];
  const presto = typeOf(view.record) === 'Trino' ? 'Trino' : trans.__('Presto');
  const engines = [
    [presto, view.health?.metrics.engine.presto],
    [trans.__('Spark notebooks'), isExternal(view.record) ? null : daemons.zeppelin]
  ] as const;
  for (const [name, engine] of engines) {
    if (engine) {
      found.push(withHeap(trans, name, engine));
    }
  }
  if (isExternal(view.record) && view.health?.metrics.engine.spark) {
    found.push(daemon(trans, typeOf(view.record), String(view.health.metrics.engine.spark.status)));
  }
  for (const [key, name] of [
    ['namenode', 'NameNode'],
    ['resourcemanager', 'ResourceManager']
  ] as const) {
    const word = daemons[key];
    if (word) {
      found.push(daemon(trans, name, word));
    }
  }
  if (daemons.hive_metastore) {
    found.push(service(trans, trans.__('Hive metastore'), daemons.hive_metastore));
  }
  if (daemons.hs2_server) {
    const { responsiveness_status } = daemons.hs2_server;
    found.push(
      isExternal(view.record) // then nothing is known of its heap
        ? daemon(trans, 'HiveServer2', responsiveness_status)
        : service(trans, 'HiveServer2', daemons.hs2_server)
    );
  }
  return found;
}

function daemon(trans: TranslationBundle, name: string, status: string): IHealthEntry {
  const isUp = status === 'UP';
  return {
    dot: isUp ? GOOD_DOT : BAD_DOT,
    name,
    word: wordOf(trans, status),
    tone: isUp ? 'good' : 'bad',
    reason: ''
  };
}

/** Return the entry of an engine, a record with a status and a heap. */
function withHeap(
  trans: TranslationBundle,
  name: string,
  engine: { [key: string]: unknown }
): IHealthEntry {
  const status = String(engine.status);
  const heap = (engine.heap ?? {}) as { [key: string]: unknown };
  return status === 'UP'
    ? up(trans, name, String(heap.usage_percent), String(heap.status))
    : daemon(trans, name, status);
}

function up(
  trans: TranslationBundle,
  name: string,
  usage: string,
  heapStatus: string
): IHealthEntry {
  const tone: Tone = heapStatus === 'red' ? 'bad' : heapStatus === 'yellow' ? 'warning' : 'good';
  const heap = trans.__('up, heap %1', percent(trans, usage));
  const word = tone === 'good' ? heap : `${heap}, ${heapStatus}`;
  return { dot: GOOD_DOT, name, word, tone, reason: '' };
}

function wordOf(trans: TranslationBundle, status: string): string {
  return wordsOfClusters(trans).get(status) ?? status;
}

function service(trans: TranslationBundle, name: string, health: IServiceHealth): IHealthEntry {
  const reason = health.reason ?? '';
  if (health.responsiveness_status === 'UP') {
    return up(trans, name, health.heap.usage_percent, health.heap.status);
  }
  if (reason.startsWith(NOT_STARTED)) {
    const why = reason.slice(NOT_STARTED.length).replace(/^: /, '');
    const word = trans.__('not started');
    return { dot: OFF_DOT, name, word, tone: 'calm', reason: why };
  }
  const word = wordOf(trans, reason === '' ? health.liveliness_status : 'DOWN');
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
