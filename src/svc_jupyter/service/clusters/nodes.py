"""The rules of adding and removing nodes; commands do the work."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.access import Action, Resource
from svc_jupyter.api.clusters import ClusterType, NodeRole
from svc_jupyter.api.commands import CommandSource, CommandType
from svc_jupyter.api.states import ClusterState, CommandStatus
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine
from svc_jupyter.service.clusters.cluster_rows import ClusterRow, lock_cluster
from svc_jupyter.service.clusters.clusters import Clusters
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.intake import Intake
from svc_jupyter.service.commands.record import command_record
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Invalid, NotFound, StateConflict
from svc_jupyter.service.schema.commands import commands

Record = dict[str, Any]
_SCALABLE = frozenset({ClusterType.HADOOP, ClusterType.PRESTO})
_NAMED_WORKERS = 10
_KEEPS_MINIMUM = frozenset({ClusterType.HADOOP})
"""Other clusters, such as Presto's, may go below their minimum."""


class Nodes:
    """Creates the commands that add and remove nodes. Records are dictionaries in the shape of `CommandRecord`."""

    def __init__(
        self,
        database: Database,
        clusters: Clusters,
        instances: Instances,
        engines: Mapping[ClusterType, ClusterEngine],
        intake: Intake,
    ) -> None:
        self._database = database
        self._clusters = clusters
        self._instances = instances
        self._engines = engines
        self._intake = intake

    async def add(self, reference: str, node_count: int, *, by: Caller) -> Record:
        """Begin to add workers to a running cluster; return the command's record. May exceed `max_nodes`.

        Raises `NotFound`, `Forbidden`, `Invalid` for a type without scaling, and `StateConflict`.
        """
        cluster = await self._clusters.resolve_for(by, Action.MANAGE, reference)
        return await self._database.write(partial(self._add, cluster.id, node_count, by))

    async def remove(self, reference: str, private_dns: str | None, *, by: Caller) -> Record:
        """Begin to remove a worker from a running cluster, by default the idlest; return the command's record.

        Raises `NotFound` for an unknown cluster or node, `Forbidden`, `Invalid` for the coordinator and a type without
        scaling, and `StateConflict` for a node of another command and at the minimum size.
        """
        cluster = await self._clusters.resolve_for(by, Action.MANAGE, reference)
        return await self._database.write(partial(self._remove, cluster.id, private_dns, by))

    def _add(self, cluster_id: int, node_count: int, by: Caller, connection: sa.Connection) -> Record:
        cluster, _ = self._running(cluster_id, connection)
        command = {"cluster_id": cluster.id, "node_count": node_count}
        row = self._create(cluster, CommandType.ADD_NODE, command, by, connection)
        trail.record(
            connection, by, "add_node", Resource.CLUSTER, cluster.id, node_count=node_count, command_id=row["id"]
        )
        return row

    def _remove(self, cluster_id: int, private_dns: str | None, by: Caller, connection: sa.Connection) -> Record:
        cluster, instance = self._running(cluster_id, connection)
        removals = _removals_under_way(connection, cluster.id)
        if private_dns is not None:
            _check_removable(cluster, instance, private_dns, removals)
        if cluster.type in _KEEPS_MINIMUM:
            _check_minimum(cluster, instance, len(removals))
        command = {"cluster_id": cluster.id, "private_dns": private_dns}
        row = self._create(cluster, CommandType.REMOVE_NODE, command, by, connection)
        trail.record(
            connection, by, "remove_node", Resource.CLUSTER, cluster.id, private_dns=private_dns, command_id=row["id"]
        )
        return row

    def _running(self, cluster_id: int, connection: sa.Connection) -> tuple[ClusterRow, Instance]:
        """Lock and return a cluster whose nodes can be changed now."""
        cluster = lock_cluster(connection, cluster_id)
        if cluster is None:
            raise NotFound(f"there is no cluster {cluster_id}")
        if cluster.configuration.is_external:
            raise Invalid(
                f"cluster {cluster.name} is external: its nodes are added and removed by those who run it, at "
                f"{cluster.configuration.external.url}"
            )
        engine = self._engines.get(cluster.type)
        if cluster.type not in _SCALABLE or (engine is not None and not engine.can_scale):
            raise Invalid(f"Node changes are not supported for {cluster.type.words} clusters")
        if cluster.state is not ClusterState.UP or cluster.instance_id is None:
            raise StateConflict(
                f"cluster {cluster.name} is {cluster.state}: nodes can only be added to and removed from one that is UP"
            )
        return cluster, self._instances.select(connection, instance_id=cluster.instance_id)

    def _create(
        self,
        cluster: ClusterRow,
        command_type: CommandType,
        command: Mapping[str, Any],
        by: Caller,
        connection: sa.Connection,
    ) -> Record:
        values = {
            "account_id": by.account_id,
            "user_id": by.user_id,
            "command_type": command_type.value,
            "command_source": CommandSource.API.value,
            "status": CommandStatus.WAITING.value,
            "command": dict(command),
            "created_at": time.time(),
            "label": cluster.labels[0] if cluster.labels else None,
            "cluster_id": cluster.id,
        }
        (command_id,) = self._intake.insert_scheduled(connection, [values])
        return command_record(queue.row_of(connection, command_id))


def _check_removable(
    cluster: ClusterRow, instance: Instance, private_dns: str, removals: Mapping[int, str | None]
) -> None:
    """Raise `NotFound`, `Invalid` or `StateConflict` unless there is a free worker of that name."""
    node = next((node for node in instance.nodes if node.private_dns == private_dns), None)
    if node is None:
        names = ", ".join(worker.private_dns for worker in instance.workers[:_NAMED_WORKERS])
        raise NotFound(f"cluster {cluster.name} has no node {private_dns[:100]!r}; its workers are {names}")
    if node.role is NodeRole.MASTER:
        raise Invalid(f"private_dns: {private_dns} is the coordinator of cluster {cluster.name}; it cannot be removed")
    claimer = node.claimed_by
    if node.is_arriving:
        raise StateConflict(f"node {private_dns} is still being added by command {claimer}")
    remover = next((number for number, name in removals.items() if name == private_dns), claimer)
    if remover is not None:
        raise StateConflict(f"node {private_dns} is already being removed by command {remover}")


def _check_minimum(cluster: ClusterRow, instance: Instance, removals: int) -> None:
    """Raise `StateConflict` when one more removal would leave fewer workers than the minimum."""
    minimum = instance.configuration.node_configuration.initial_nodes
    arrived = [node for node in instance.workers if not node.is_arriving]
    if len(arrived) - removals <= minimum:
        going = f", {removals} of them being removed," if removals else ""
        raise StateConflict(
            f"cluster {cluster.name} has {len(arrived)} workers{going} and its minimum (initial_nodes) is {minimum}: "
            "no node can be removed"
        )


def _removals_under_way(connection: sa.Connection, cluster_id: int) -> Mapping[int, str | None]:
    """Return the commands that remove nodes of a cluster, each with the node that it names, if any."""
    query = sa.select(commands.c.id, commands.c.command).where(
        commands.c.cluster_id == cluster_id,
        commands.c.command_type == CommandType.REMOVE_NODE.value,
        commands.c.status.in_([CommandStatus.WAITING.value, CommandStatus.RUNNING.value]),
    )
    return {row.id: row.command["private_dns"] for row in connection.execute(query)}
