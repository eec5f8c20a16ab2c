import type { IPagingInfo } from './paging';

/** What a cluster's life knows: DOWN → PENDING → UP → TERMINATING → DOWN. */
export type ClusterPhase = 'DOWN' | 'PENDING' | 'UP' | 'TERMINATING';

/** A cluster as the service shows it; of its settings those that are read here. */
export interface IClusterRecord {
  id: number;
  label: string[];
  state: ClusterPhase;
  enable_ganglia_monitoring?: boolean;
  hadoop_settings?: { use_spark?: boolean } | null;
  presto_settings?: { enable_presto?: boolean } | null;
  /** Counts are of workers. */
  node_configuration?: { initial_nodes?: number; max_nodes?: number } | null;
}

/** A page of clusters. */
export interface IClusterList {
  clusters: IClusterRecord[];
  paging_info: IPagingInfo;
}

/** A node; times are ISO 8601. */
export interface IClusterNode {
  role: 'master' | 'worker';
  hostname: string;
  private_ip: string;
  private_dns: string;
  status: string;
  up_time?: string | null;
  last_seen_time?: string | null;
}

/** Where a cluster stands; times are ISO 8601. */
export interface IClusterState {
  state: ClusterPhase;
  cluster_id: number;
  start_at?: string | null;
  up_at?: string | null;
  down_at?: string | null;
  terminate_reason?: string | null;
  /** What is being done right now. */
  message?: string | null;
  nodes: IClusterNode[];
}

/** A service of a cluster: whether its process is there and whether it answers. */
export interface IServiceHealth {
  responsiveness_status: string;
  liveliness_status: string;
  heap: { usage_percent: string; status: string };
  reason?: string | null;
}

/** One live look at a cluster; percentages are texts. */
export interface IClusterHealth {
  cluster_id: number;
  metrics: {
    captured_at: string;
    engine: {
      yarn?: {
        memory: string;
        containers: { pending: string; failed: string; killed: string };
      } | null;
    };
    daemons: {
      hive_metastore?: IServiceHealth | null;
      hs2_server?: IServiceHealth | null;
      resourcemanager?: string | null;
      namenode?: string | null;
    };
    system: { master: { cpu_usage: string; disk_usage: string } };
  };
}

/** Pairs of Unix seconds and value, oldest first. */
export type Samples = [number, number][];

/** Samples of a running cluster over the last `interval` seconds. */
export interface IClusterMetrics {
  cluster_id: number;
  interval: number;
  metrics: { [name: string]: { unit: string; samples: Samples } };
}
