"""Which hosts are in use, by the rows of running clusters and by the claim that lies on each host itself."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import sqlalchemy as sa

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.tables import cluster_instances, cluster_nodes


def key_of(instance_id: int, start_at: float) -> str:
    """Return an instance's name on hosts, that no instance of another service has: it holds when it was started."""
    return f"{instance_id}-{sha256(repr(start_at).encode()).hexdigest()[:12]}"


def owner_of(instance: Instance) -> str:
    """Return what a claim says: the key, then words for whoever looks at the file."""
    return f"{key_of(instance.id, instance.start_at)} cluster {instance.cluster_id} of the service at {instance.folder}"


def hosts_in_use(connection: sa.Connection, provider: str) -> Mapping[str, int]:
    """Return the hosts of all instances that are not over, with the id of their cluster."""
    query = (
        sa.select(cluster_nodes.c.private_dns, cluster_instances.c.cluster_id)
        .join(cluster_instances, cluster_instances.c.id == cluster_nodes.c.instance_id)
        .where(cluster_instances.c.provider == provider, cluster_instances.c.state != ClusterState.DOWN.value)
    )
    return {row.private_dns: row.cluster_id for row in connection.execute(query)}


def is_over(connection: sa.Connection, key: str) -> bool:
    """Whether a claim's key is that of an instance of this service that is over; False for another service's."""
    number = key.partition("-")[0]
    if not number.isdecimal():
        return False
    query = sa.select(cluster_instances.c.state, cluster_instances.c.start_at).where(
        cluster_instances.c.id == int(number)
    )
    row = connection.execute(query).one_or_none()
    return row is not None and row.state == ClusterState.DOWN.value and key_of(int(number), row.start_at) == key
