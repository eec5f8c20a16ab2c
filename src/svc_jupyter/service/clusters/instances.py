"""Instances in the database: each run of a cluster, with its nodes."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.clusters import cluster_instances, cluster_nodes, clusters

# Statements that commands wait for are built once: building one takes longer than running it.
_BY_ID = (
    sa.select(cluster_instances, clusters.c.account_id)
    .join(clusters, clusters.c.id == cluster_instances.c.cluster_id)
    .where(cluster_instances.c.id == sa.bindparam("instance"))
)
_NODES = (
    sa.select(cluster_nodes).where(cluster_nodes.c.instance_id == sa.bindparam("instance")).order_by(cluster_nodes.c.id)
)
_OF_CLUSTER = sa.select(clusters.c.instance_id).where(clusters.c.id == sa.bindparam("cluster"))
_CLAIMED_BY: Final = "command_id"
_ADDED_BY: Final = "added_by"
_LEAVING: Final = "leaving"
"""Keys in a node's details."""
SEALED_SECRETS: Final = "sealed_secrets"
OWNER_EMAIL: Final = "owner_email"
"""Keys in the details of an external cluster's instance."""
LOGS = "logs"
"""Folder of the service's own logs in an instance's folder; kept until the cluster starts again or is deleted."""


class Manner(StrEnum):
    """How a node leaves."""

    GRACEFUL = "graceful"
    """After its work has ended and the data on it are no longer needed."""
    AT_ONCE = "at_once"
    """Without waiting, when an addition is taken back; its work is repeated elsewhere."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node in the database; times are Unix seconds."""

    id: int
    role: NodeRole
    hostname: str
    private_ip: str
    private_dns: str
    instance_type: str
    status: NodeStatus
    created_at: float
    up_at: float | None
    last_seen_at: float | None
    details: Mapping[str, Any]
    """What its provider recorded, such as its memory."""
    claimed_by: int | None = None
    """The command that is adding or removing it, so that no two commands have the same node."""
    added_by: int | None = None
    """The command that added it; permanent."""
    leaving: Manner | None = None
    """Set while it leaves; the status only shows the progress."""

    @property
    def is_arriving(self) -> bool:
        """Whether a command is still adding it."""
        return self.claimed_by is not None and self.added_by == self.claimed_by


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node that a provider has made, not yet in the database."""

    role: NodeRole
    hostname: str
    private_ip: str
    private_dns: str
    instance_type: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Instance:
    """A run of a cluster. `folder` holds the service's files for it, and on `local` also the nodes' folders."""

    id: int
    cluster_id: int
    account_id: int
    state: ClusterState
    configuration: ClusterConfiguration
    provider: str
    folder: Path
    details: Mapping[str, Any]
    start_at: float
    up_at: float | None
    last_used_at: float
    terminate_reason: str | None
    nodes: tuple[Node, ...]
    down_at: float | None = None
    message: str | None = None
    """The current step or trouble, for the user."""
    replica_id: str | None = None
    """The replica that drives it."""

    @property
    def sealed_secrets(self) -> str | None:
        """The sealed secrets of an external cluster, as they were at its start."""
        return self.details.get(SEALED_SECRETS)

    @property
    def owner_email(self) -> str:
        """The e-mail of the user who made an external cluster."""
        return str(self.details[OWNER_EMAIL])

    @property
    def master(self) -> Node | None:
        """The coordinator, None until it is made."""
        return next((node for node in self.nodes if node.role is NodeRole.MASTER), None)

    @property
    def workers(self) -> tuple[Node, ...]:
        """The workers, oldest first."""
        return tuple(node for node in self.nodes if node.role is NodeRole.WORKER)


class Instances:
    """Reads and writes instances and nodes. The rows are authoritative: a reconciler works from them."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database

    async def get(self, instance_id: int) -> Instance:
        """Return an existing instance."""
        return await self._database.look_up(partial(self.select, instance_id=instance_id))

    async def of_cluster(self, cluster_id: int) -> Instance | None:
        """Return a cluster's running or last instance; None when it never ran."""
        return await self._database.look_up(partial(self._select_of_cluster, cluster_id=cluster_id))

    async def clusters_by_address(self) -> Mapping[str, int]:
        """Return the addresses of all nodes of instances that have not ended, each with the id of its cluster."""
        query = (
            sa.select(cluster_nodes.c.private_ip, cluster_instances.c.cluster_id)
            .join(cluster_instances, cluster_instances.c.id == cluster_nodes.c.instance_id)
            .where(cluster_instances.c.state != ClusterState.DOWN.value)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {row.private_ip: row.cluster_id for row in rows}

    async def add_nodes(
        self, instance_id: int, new: Sequence[NewNode], *, command_id: int | None = None
    ) -> Sequence[Node]:
        """Write nodes that a provider has made, all STARTING, claimed by the command that adds them; return them."""
        return await self._database.write(partial(_insert_nodes, instance_id=instance_id, new=new, by=command_id))

    async def change_node(self, node_id: int, **values: Any) -> None:
        """Write columns of a node (`status`, `up_at`, `last_seen_at`, `details`)."""
        await self._database.write(
            lambda connection: connection.execute(
                sa.update(cluster_nodes).where(cluster_nodes.c.id == node_id).values(**values)
            ),
            durable=False,
        )

    async def set_leaving(self, node_id: int, manner: Manner | None) -> None:
        """Record that a node leaves, or with None that it stays."""
        await self._database.write(partial(_mark, node_id=node_id, key=_LEAVING, value=manner))

    async def release_claim(self, node_id: int) -> None:
        """Record that no command is adding or removing a node any more."""
        await self._database.write(partial(_mark, node_id=node_id, key=_CLAIMED_BY, value=None))

    async def seen(self, node_ids: Iterable[int], now: float) -> None:
        """Record that nodes answered."""
        ids = list(node_ids)
        await self._database.write(
            lambda connection: connection.execute(
                sa.update(cluster_nodes).where(cluster_nodes.c.id.in_(ids)).values(last_seen_at=now)
            ),
            durable=False,
        )

    async def drop_nodes(self, node_ids: Iterable[int]) -> None:
        """Delete the rows of nodes that are gone."""
        ids = list(node_ids)
        await self._database.write(
            lambda connection: connection.execute(sa.delete(cluster_nodes).where(cluster_nodes.c.id.in_(ids)))
        )

    async def change(self, instance_id: int, **values: Any) -> None:
        """Write columns of an instance, such as `details`, `message`, `last_used_at`, but not its state."""
        await self._database.write(
            lambda connection: connection.execute(
                sa.update(cluster_instances).where(cluster_instances.c.id == instance_id).values(**values)
            ),
            durable=False,
        )

    def folder(self, cluster_id: int, instance_id: int) -> Path:
        """Return the folder of an instance."""
        return self._settings.data_dir / "clusters" / str(cluster_id) / str(instance_id)

    async def clear_folder(self, instance: Instance) -> None:
        """Delete the folder of an ended instance, except the service's own logs."""
        await asyncio.to_thread(_clear, instance.folder)

    async def forget_folders(self, cluster_id: int) -> None:
        """Delete the logs of a cluster's ended instances."""
        await asyncio.to_thread(_forget_cleared, self._settings.data_dir / "clusters" / str(cluster_id))

    def select(self, connection: sa.Connection, *, instance_id: int) -> Instance:
        """Return an existing instance, inside the caller's transaction."""
        instance = self.find(connection, instance_id=instance_id)
        assert instance is not None
        return instance

    def find(self, connection: sa.Connection, *, instance_id: int) -> Instance | None:
        """Return an instance, None when its cluster was deleted, inside the caller's transaction."""
        wanted = {"instance": instance_id}
        row = connection.execute(_BY_ID, wanted).mappings().one_or_none()
        if row is None:
            return None
        nodes = connection.execute(_NODES, wanted).mappings()
        return Instance(
            id=row["id"],
            cluster_id=row["cluster_id"],
            account_id=row["account_id"],
            state=ClusterState(row["state"]),
            configuration=ClusterConfiguration.model_validate(row["configuration"]),
            provider=row["provider"],
            folder=self.folder(row["cluster_id"], row["id"]),
            details=row["details"] or {},
            start_at=row["start_at"],
            up_at=row["up_at"],
            down_at=row["down_at"],
            last_used_at=row["last_used_at"],
            terminate_reason=row["terminate_reason"],
            message=row["message"],
            replica_id=row["replica_id"],
            nodes=tuple(map(_node, nodes)),
        )

    def _select_of_cluster(self, connection: sa.Connection, *, cluster_id: int) -> Instance | None:
        instance_id = connection.execute(_OF_CLUSTER, {"cluster": cluster_id}).scalar_one_or_none()
        return None if instance_id is None else self.select(connection, instance_id=instance_id)


def _insert_nodes(
    connection: sa.Connection, *, instance_id: int, new: Sequence[NewNode], by: int | None
) -> Sequence[Node]:
    marks = {} if by is None else {_ADDED_BY: by, _CLAIMED_BY: by}
    now = time.time()
    made = []
    for node in new:
        values = {
            "instance_id": instance_id,
            "role": node.role.value,
            "hostname": node.hostname,
            "private_ip": node.private_ip,
            "private_dns": node.private_dns,
            "instance_type": node.instance_type,
            "status": NodeStatus.STARTING.value,
            "created_at": now,
            "details": {**node.details, **marks},
        }
        row = connection.execute(sa.insert(cluster_nodes).values(values).returning(cluster_nodes)).mappings().one()
        made.append(_node(row))
    return made


def _clear(folder: Path) -> None:
    for item in folder.iterdir() if folder.is_dir() else ():
        if item.name == LOGS:
            continue
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item)
        else:
            item.unlink()


def _forget_cleared(folder: Path) -> None:
    for item in folder.iterdir() if folder.is_dir() else ():
        if {entry.name for entry in item.iterdir()} <= {LOGS}:
            shutil.rmtree(item)
    with suppress(OSError):  # another instance has a folder there
        folder.rmdir()


def claim(connection: sa.Connection, node_id: int, command_id: int) -> bool:
    """Assign a node to a command; return False when the node is gone or belongs to another command."""
    details = _locked_details(connection, node_id)
    if details is None or details.get(_CLAIMED_BY) not in {None, command_id}:
        return False
    _mark(connection, node_id=node_id, key=_CLAIMED_BY, value=command_id)
    return True


def _mark(connection: sa.Connection, *, node_id: int, key: str, value: object) -> None:
    if (details := _locked_details(connection, node_id)) is not None:
        changed = {name: known for name, known in {**details, key: value}.items() if known is not None}
        connection.execute(sa.update(cluster_nodes).where(cluster_nodes.c.id == node_id).values(details=changed))


def _locked_details(connection: sa.Connection, node_id: int) -> Mapping[str, Any] | None:
    query = sa.select(cluster_nodes.c.details).where(cluster_nodes.c.id == node_id).with_for_update()
    row = connection.execute(query).one_or_none()
    return None if row is None else row.details or {}


def _node(row: Mapping[Any, Any]) -> Node:
    details = row["details"] or {}
    return Node(
        id=row["id"],
        role=NodeRole(row["role"]),
        hostname=row["hostname"],
        private_ip=row["private_ip"],
        private_dns=row["private_dns"],
        instance_type=row["instance_type"],
        status=NodeStatus(row["status"]),
        created_at=row["created_at"],
        up_at=row["up_at"],
        last_seen_at=row["last_seen_at"],
        details=details,
        claimed_by=details.get(_CLAIMED_BY),
        added_by=details.get(_ADDED_BY),
        leaving=None if _LEAVING not in details else Manner(details[_LEAVING]),
    )
