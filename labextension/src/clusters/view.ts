import type {
  ClusterPhase,
  IClusterHealth,
  IClusterMetrics,
  IClusterNode,
  IClusterRecord,
  IClusterState
} from '../service/records/clusters';

/** The engine of a cluster. */
export type ClusterType = 'Hadoop' | 'Spark' | 'Presto' | 'Trino' | 'HiveServer2' | 'Spark Connect';

/** The metric of the heap of each engine's main daemon. */
const HEAPS: Readonly<Record<ClusterType, string>> = {
  Hadoop: 'resourcemanager_heap',
  Spark: 'zeppelin_heap',
  Presto: 'presto_heap',
  Trino: 'presto_heap',
  HiveServer2: 'hs2_server_heap',
  'Spark Connect': 'zeppelin_heap'
};
/** What others run, by the name of its address. */
const EXTERNAL_TYPES = {
  presto_url: 'Presto',
  trino_url: 'Trino',
  hiveserver2: 'HiveServer2',
  spark_connect: 'Spark Connect'
} as const;
/** The metrics that are only kept with `enable_ganglia_monitoring`. */
const WITH_YARN: readonly string[] = ['yarn_memory', 'containers_pending'];

/** Return the plotted metrics of a cluster. */
export function plottedOf(record: IClusterRecord): string[] {
  const type = typeOf(record);
  if (isExternal(record)) {
    return [HEAPS[type]];
  }
  const hasYarn = record.enable_ganglia_monitoring && type !== 'Presto';
  return ['cpu_usage', HEAPS[type], 'disk_usage', ...(hasYarn ? WITH_YARN : [])];
}

/** The time span of the plots, in seconds. */
export const PLOT_SECONDS = 600;

/** One cluster, fetched together. */
export interface IClusterLook {
  record: IClusterRecord;
  state: IClusterState;
  /** Null unless the cluster is UP and its health could be read. */
  health: IClusterHealth | null;
  metrics: IClusterMetrics | null;
  /** Why an UP cluster has no health data. */
  unread: string | null;
}

/** A cluster as of `asOf`. */
export interface IClusterView extends IClusterLook {
  asOf: Date;
}

/** Return how many containers run on a worker; null where that is not known. */
export function containersOn(view: IClusterView, worker: string): number | null {
  const found = view.health?.metrics.system.workers?.find(one => one.private_dns === worker);
  return found?.containers ?? null;
}

/** Return a cluster's name in messages: its first label, or its id. */
export function nameOf(record: IClusterRecord): string {
  return record.label[0] ?? String(record.id);
}

/** Return a cluster's engine, from its settings. */
export function typeOf(record: IClusterRecord): ClusterType {
  if (isExternal(record)) {
    return externalOf(record)[0];
  }
  if (record.presto_settings?.enable_presto) {
    return 'Presto';
  }
  return record.hadoop_settings?.use_spark ? 'Spark' : 'Hadoop';
}

/** Return what others run, and its address. */
export function externalOf(record: IClusterRecord): [ClusterType, string] {
  for (const [name, type] of Object.entries(EXTERNAL_TYPES)) {
    const address = record.external?.[name as keyof typeof EXTERNAL_TYPES];
    if (address) {
      return [type, address];
    }
  }
  return ['Presto', ''];
}

/** Return whether others run a cluster. */
export function isExternal(record: IClusterRecord): boolean {
  return record.provider === 'external';
}

/** Return the number of workers at the start, the minimum of a Hadoop cluster; 0 if unknown. */
export function minimumOf(record: IClusterRecord): number {
  return record.node_configuration?.initial_nodes ?? 0;
}

/** Return the configured maximum of workers, which the service does not enforce; 0 if unknown. */
export function maximumOf(record: IClusterRecord): number {
  return record.node_configuration?.max_nodes ?? 0;
}

/** Return the state. */
export function phaseOf(view: IClusterView): ClusterPhase {
  return view.state.state;
}

/** Return the nodes besides the coordinator. */
export function workersOf(state: IClusterState): IClusterNode[] {
  return state.nodes.filter(node => node.role === 'worker');
}

/** A page in which an engine shows itself, and whether this browser can reach it. */
export interface IPage {
  name: string;
  url: URL;
  isReachable: boolean;
}

/** Return the pages of a cluster's engines for a browser whose own address has the host `here`. */
export function pagesOf({ health }: IClusterView, here: string): IPage[] {
  return (health?.pages ?? []).flatMap(({ name, url: text }) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    // Another scheme could run a script in this page.
    return url !== null && /^https?:$/.test(url.protocol)
      ? [{ name, url, isReachable: isLoopback(here) || !isLoopback(url.hostname) }]
      : [];
  });
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
}

/** Return whether a cluster is changing its state, so that updates are due soon. */
export function isMoving(phase: ClusterPhase): boolean {
  return phase === 'PENDING' || phase === 'TERMINATING';
}

/** Return whether a cluster's labels, engine, place or id contain a text, which is in lower case. */
export function has(record: IClusterRecord, search: string): boolean {
  const texts = [...record.label, typeOf(record), record.provider ?? '', String(record.id)];
  return texts.some(text => text.toLowerCase().includes(search));
}
