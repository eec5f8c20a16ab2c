import type { IPagingInfo, Schemas, Sent, With } from './contract';

/** The states of a cluster: DOWN → PENDING → UP → TERMINATING → DOWN. */
export type ClusterPhase = Schemas['ClusterState'];

/** A cluster with those settings that are used here; counts are of workers. */
export type IClusterRecord = With<
  Schemas['ClusterRecord'],
  {
    hadoop_settings?: Pick<Schemas['HadoopSettings'], 'use_spark'> | null;
    presto_settings?: Pick<Schemas['PrestoSettings'], 'enable_presto'> | null;
    external?: Pick<
      Schemas['ExternalSettings'],
      'presto_url' | 'trino_url' | 'hiveserver2' | 'spark_connect'
    > | null;
    node_configuration?: Pick<Schemas['NodeConfiguration'], 'initial_nodes' | 'max_nodes'> | null;
  }
>;

/** A page of clusters. */
export interface IClusterList {
  clusters: IClusterRecord[];
  paging_info: IPagingInfo;
}

/** A node; times are ISO 8601. */
export type IClusterNode = Schemas['ClusterNode'];

/** A cluster's state; `message` is the current operation; times are ISO 8601. */
export type IClusterState = Sent<
  Omit<Schemas['ClusterStateRecord'], 'config_id' | 'cluster_inst_id'>,
  'nodes'
>;

/** A daemon of a cluster: whether its process runs and whether it answers. */
export type IServiceHealth = Schemas['ServiceHealth'];

/** The live health of a cluster; percentages are texts. */
export type IClusterHealth = Schemas['ClusterHealth'];

/** Samples of a running cluster over the last `interval` seconds. */
export type IClusterMetrics = With<
  Pick<Schemas['ClusterMetrics'], 'cluster_id' | 'interval'>,
  { metrics: { [name: string]: Required<Schemas['MetricSeries']> } }
>;

/** Pairs of Unix seconds and value, oldest first. */
export type Samples = Required<Schemas['MetricSeries']>['samples'];
