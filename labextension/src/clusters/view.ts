import type {
  ClusterPhase,
  IClusterHealth,
  IClusterMetrics,
  IClusterNode,
  IClusterRecord,
  IClusterState
} from '../service/records/clusters';

/** What a cluster runs. */
export type ClusterType = 'Hadoop' | 'Spark' | 'Presto';

/** The metrics that a detail plots; the last ones are only kept with `enable_ganglia_monitoring`. */
export const PLOTTED: readonly string[] = ['cpu_usage', 'resourcemanager_heap', 'disk_usage'];
export const PLOTTED_WITH_YARN: readonly string[] = [
  ...PLOTTED,
  'yarn_memory',
  'containers_pending'
];

/** How far back the plots reach, in seconds. */
export const PLOT_SECONDS = 600;

/** One cluster, all of it asked for at once. */
export interface IClusterLook {
  record: IClusterRecord;
  state: IClusterState;
  /** Null unless the cluster is UP and its health could be read. */
  health: IClusterHealth | null;
  metrics: IClusterMetrics | null;
  /** Why there is no health of a cluster that is UP. */
  unread: string | null;
}

/** A cluster as it was at `asOf`. */
export interface IClusterView extends IClusterLook {
  asOf: Date;
}

/** Return how a cluster is called in a sentence: its first label, or its id. */
export function nameOf(record: IClusterRecord): string {
  return record.label[0] ?? String(record.id);
}

/** Return what a cluster runs, as it follows from its settings. */
export function typeOf(record: IClusterRecord): ClusterType {
  if (record.presto_settings?.enable_presto) {
    return 'Presto';
  }
  return record.hadoop_settings?.use_spark ? 'Spark' : 'Hadoop';
}

/** Return how many workers it starts with; a Hadoop cluster never goes below. 0 where it is not told. */
export function minimumOf(record: IClusterRecord): number {
  return record.node_configuration?.initial_nodes ?? 0;
}

/** Return how many workers it should have at most; the service does not check it. 0 where it is not told. */
export function maximumOf(record: IClusterRecord): number {
  return record.node_configuration?.max_nodes ?? 0;
}

/** Return the state's word. */
export function phaseOf(view: IClusterView): ClusterPhase {
  return view.state.state;
}

/** Return the nodes besides the coordinator. */
export function workersOf(state: IClusterState): IClusterNode[] {
  return state.nodes.filter(node => node.role === 'worker');
}

/** Return whether a cluster is on its way to another state, so that news are near. */
export function isMoving(phase: ClusterPhase): boolean {
  return phase === 'PENDING' || phase === 'TERMINATING';
}
