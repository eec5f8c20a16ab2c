import type { ClusterPhase, IClusterHealth, IClusterNode } from '../service/records/clusters';
import type { IClusterView } from './view';

/** The current time of the specs. */
export const NOW = new Date('2026-11-21T14:02:11Z');

/** Return a worker as sent by the service. */
export function worker(name: string, status: IClusterNode['status'] = 'RUNNING'): IClusterNode {
  return {
    role: 'worker',
    hostname: name,
    private_ip: '127.0.0.11',
    private_dns: name,
    instance_type: 'local',
    status,
    up_time: '2026-11-21T12:02:11Z'
  };
}

/** Return the health of a healthy cluster. */
export function health(): IClusterHealth {
  return {
    cluster_id: 1,
    cluster_inst_id: 1,
    metrics: {
      captured_at: NOW.toISOString(),
      engine: { yarn: { memory: '37.5', containers: { pending: '0', failed: '0', killed: '0' } } },
      daemons: {
        namenode: 'UP',
        resourcemanager: 'UP',
        hive_metastore: {
          responsiveness_status: 'UP',
          liveliness_status: 'UP',
          heap: { usage_percent: '41.2', status: 'green' }
        }
      },
      system: { master: { cpu_usage: '23.4', disk_usage: '12.0', spotloss_count: 0 } }
    }
  };
}

/** Return a Hadoop cluster of 2 to 4 workers with these. */
export function cluster(phase: ClusterPhase, ...workers: IClusterNode[]): IClusterView {
  return {
    record: {
      id: 1,
      label: ['default'],
      state: phase,
      node_configuration: { initial_nodes: 2, max_nodes: 4 }
    },
    state: {
      state: phase,
      cluster_id: 1,
      start_at: '2026-11-21T11:47:59Z',
      up_at: '2026-11-21T11:48:11Z',
      nodes: workers
    },
    health: phase === 'UP' ? health() : null,
    metrics: null,
    unread: null,
    asOf: NOW
  };
}
