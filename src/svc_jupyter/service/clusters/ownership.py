"""Assigns instances to replicas: a replica has its own, and takes those of replicas that are gone.

The replica that takes over deletes the other's row in `replicas` (`commands/lease.py`), so an instance whose replica
has no row is free. Daemons of some providers can be driven from their host only: such an instance waits for a replica
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.schema.clusters import cluster_instances
from svc_jupyter.service.schema.commands import replicas

_I = cluster_instances.c
_ACTIVE = _I.state != ClusterState.DOWN.value
_NOBODYS = sa.or_(_I.replica_id.is_(None), _I.replica_id.not_in(sa.select(replicas.c.id)))


@dataclass(frozen=True, slots=True)
class Stranded:
    """An instance on a host without a replica."""

    id: int
    state: ClusterState
    host: str


def own(connection: sa.Connection, replica: Replica) -> list[int]:
    """Return the ids of the active instances that the replica drives."""
    return list(connection.execute(sa.select(_I.id).where(_ACTIVE, _I.replica_id == replica.id)).scalars())


def take(connection: sa.Connection, replica: Replica, providers: Mapping[str, Provider]) -> list[int]:
    """Take the free instances that can be driven from here; return their ids."""
    free = sa.select(_I.id, _I.provider, _I.replica_id).where(
        _ACTIVE, _NOBODYS, sa.or_(_I.host.is_(None), _I.host == replica.host)
    )
    taken = []
    for row in connection.execute(free).all():
        provider = providers.get(row.provider)
        if provider is None:
            continue
        same = _I.replica_id.is_(None) if row.replica_id is None else _I.replica_id == row.replica_id
        host = {"host": replica.host} if provider.is_bound_to_host else {}
        changed = connection.execute(
            sa.update(cluster_instances).where(_I.id == row.id, same).values(replica_id=replica.id, **host)
        )
        if changed.rowcount:
            taken.append(row.id)
    return taken


def stranded(connection: sa.Connection, replica: Replica) -> list[Stranded]:
    """Return the active instances that only another host can drive while it has no replica."""
    hosts = sa.select(replicas.c.host)
    query = sa.select(_I.id, _I.state, _I.host).where(
        _ACTIVE, _NOBODYS, _I.host.is_not(None), _I.host != replica.host, _I.host.not_in(hosts)
    )
    return [Stranded(row.id, ClusterState(row.state), row.host) for row in connection.execute(query)]


def is_own(connection: sa.Connection, replica: Replica, instance_id: int) -> bool:
    """Return whether the replica still drives an instance."""
    query = sa.select(_I.replica_id).where(_I.id == instance_id)
    return connection.execute(query).scalar_one_or_none() == replica.id
