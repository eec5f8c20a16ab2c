import { asServiceError, pathOf, type ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';
import type {
  IClusterHealth,
  IClusterList,
  IClusterMetrics,
  IClusterRecord,
  IClusterState
} from '../service/records/clusters';
import { type IClusterLook, PLOT_SECONDS, plottedOf } from './view';

/** Maximum number of clusters listed, the newest ones. */
const LISTED = 100;

/** The feature's calls to the service. All reject with `ServiceError`. */
export class ClusterCalls {
  constructor(readonly requests: ServiceRequests) {}

  /** Return all clusters by name, each with its state and, when UP, its health. */
  async all(signal?: AbortSignal): Promise<IClusterLook[]> {
    const query = { per_page: LISTED };
    const { clusters } = await this.requests.get<IClusterList>('clusters', query, signal);
    return Promise.all(byName(clusters).map(record => this._listed(record, signal)));
  }

  /** Return the state of each cluster by its id: the cheapest call that tells of a change. */
  async states(signal?: AbortSignal): Promise<Record<string, string>> {
    const query = { per_page: LISTED };
    const { clusters } = await this.requests.get<IClusterList>('clusters', query, signal);
    return Object.fromEntries(clusters.map(({ id, state }) => [String(id), state]));
  }

  /** Return all data of a cluster's detail. */
  async look(cluster: number, signal?: AbortSignal): Promise<IClusterLook> {
    const record = await this.requests.get<IClusterRecord>(path(cluster), undefined, signal);
    const state = await this._state(record, signal);
    const [health, unread] = await this._health(state, signal);
    const query = { metric: plottedOf(record).join(','), interval: PLOT_SECONDS };
    const metrics = health
      ? await this.requests.get<IClusterMetrics>(path(cluster, 'metrics'), query, signal)
      : null;
    return { record, state, health, metrics, unread };
  }

  start(cluster: number): Promise<unknown> {
    return this.requests.put(path(cluster, 'state'), { state: 'start' });
  }

  terminate(cluster: number): Promise<unknown> {
    return this.requests.put(path(cluster, 'state'), { state: 'terminate' });
  }

  /** Return the command that adds workers. */
  addNodes(cluster: number, count: number): Promise<ICommand> {
    return this.requests.post(path(cluster, 'nodes'), { node_count: count });
  }

  /** Return the command that removes a worker; without a name the least busy one. */
  removeNode(cluster: number, node: string | null): Promise<ICommand> {
    return this.requests.delete(path(cluster, 'nodes'), { query: { private_dns: node } });
  }

  cancel(id: number): Promise<unknown> {
    return this.requests.put(pathOf('commands', id), { status: 'kill' });
  }

  private async _listed(record: IClusterRecord, signal?: AbortSignal): Promise<IClusterLook> {
    if (record.state === 'DOWN') {
      const state = { state: record.state, cluster_id: record.id, nodes: [] };
      return { record, state, health: null, metrics: null, unread: null };
    }
    const state = await this._state(record, signal);
    const [health, unread] = await this._health(state, signal);
    return { record, state, health, metrics: null, unread };
  }

  private _state(record: IClusterRecord, signal?: AbortSignal): Promise<IClusterState> {
    return this.requests.get(path(record.id, 'state'), undefined, signal);
  }

  /** Return the health, or why the service cannot report it; the rest is shown anyway. */
  private async _health(
    state: IClusterState,
    signal?: AbortSignal
  ): Promise<[IClusterHealth | null, string | null]> {
    if (state.state !== 'UP') {
      return [null, null];
    }
    try {
      const health = path(state.cluster_id, 'live_cluster_health');
      return [await this.requests.get<IClusterHealth>(health, undefined, signal), null];
    } catch (reason) {
      const error = asServiceError(reason);
      if (error.isUnreachable) {
        throw reason;
      }
      return [null, error.message];
    }
  }
}

/** Return clusters sorted by their first label. */
export function byName(records: IClusterRecord[]): IClusterRecord[] {
  const key = (record: IClusterRecord): string => record.label[0] ?? '~';
  return [...records].sort((one, other) => key(one).localeCompare(key(other)));
}

function path(cluster: number, ...parts: string[]): string {
  return pathOf('clusters', cluster, ...parts);
}
