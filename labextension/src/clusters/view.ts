import type {
  ClusterPhase,
  IClusterHealth,
  IClusterMetrics,
  IClusterNode,
  IClusterRecord,
  IClusterState
} from '../service/records/clusters';

/** The engine of a cluster. */
export type ClusterType = 'Hadoop' | 'Spark' | 'Presto';

/** The plotted metrics; the last ones are only kept with `enable_ganglia_monitoring`. */
export const PLOTTED: readonly string[] = ['cpu_usage', 'resourcemanager_heap', 'disk_usage'];
export const PLOTTED_WITH_YARN: readonly string[] = [
  ...PLOTTED,
  'yarn_memory',
  'containers_pending'
];

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

/** Return a cluster's name in messages: its first label, or its id. */
export function nameOf(record: IClusterRecord): string {
  return record.label[0] ?? String(record.id);
}

/** Return a cluster's engine, from its settings. */
export function typeOf(record: IClusterRecord): ClusterType {
  if (record.presto_settings?.enable_presto) {
    return 'Presto';
  }
  return record.hadoop_settings?.use_spark ? 'Spark' : 'Hadoop';
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

/** Return whether a cluster is changing its state, so that updates are due soon. */
export function isMoving(phase: ClusterPhase): boolean {
  return phase === 'PENDING' || phase === 'TERMINATING';
}
