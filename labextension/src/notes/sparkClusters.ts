import { Resource, type ServiceRequests } from '../service';
import type { ClusterPhase, IClusterList } from '../service/records/clusters';

/** Maximum number of clusters read, the newest ones. */
const READ = 100;
/** How soon a change of a cluster is seen while a notebook shows it, in milliseconds. */
const INTERVAL = 1_000;

/** A Spark cluster by the name that cells use. */
export interface ISparkCluster {
  id: number;
  name: string;
  state: ClusterPhase;
}

/** Return the Spark clusters, by name; read while a visible notebook shows them. */
export function sparkClusters(requests: ServiceRequests): Resource<ISparkCluster[]> {
  return new Resource({
    name: 'spark-clusters',
    interval: INTERVAL,
    fetch: async signal => {
      const { clusters } = await requests.get<IClusterList>('clusters', { per_page: READ }, signal);
      return clusters
        .filter(({ hadoop_settings }) => hadoop_settings?.use_spark === true)
        .map(({ id, label, state }) => ({ id, name: label[0] ?? String(id), state }))
        .sort((one, other) => one.name.localeCompare(other.name));
    }
  });
}
