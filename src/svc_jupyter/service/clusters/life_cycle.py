"""The life of a cluster as rows: `DOWN` → `PENDING` → `UP` → `TERMINATING` → `DOWN`; its record; waits for its changes.

Every function is a step inside the caller's transaction, with all consequences for the commands that wait for the
cluster or run on it. The driver (`driver.py`) works from these rows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType, NodeRole
from svc_jupyter.api.states import CLUSTER_TRANSITIONS, ClusterState
from svc_jupyter.service.clusters.cluster_engine import ClusterEngine, engine_of
from svc_jupyter.service.clusters.cluster_rows import ClusterRow, lock_cluster, to_json
from svc_jupyter.service.clusters.instances import OWNER_EMAIL, SEALED_SECRETS, Instances, Node
from svc_jupyter.service.clusters.providers.requirements import missing
from svc_jupyter.service.commands import queue, queue_of_clusters
from svc_jupyter.service.commands.ends import ENDED, STOP, AtEnd, StopReason, call_apart, stop_request
from svc_jupyter.service.commands.queue import WAITING
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.clusters import cluster_instances, cluster_nodes, clusters

CLUSTER = "cluster"
"""Topic that announces a change of a cluster's state, with the cluster's id."""
Engines = Mapping[ClusterType, ClusterEngine]


class LifeCycle:
    """Changes the states of clusters. The caller holds the lock on the cluster's row, or the function takes it."""

    def __init__(
        self,
        settings: Settings,
        bus: Bus,
        engines: Engines,
        at_end: Sequence[AtEnd],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`at_end` are the hooks for commands that end with a cluster."""
        self._settings = settings
        self._bus = bus
        self._engines = engines
        self._at_end = at_end
        self.clock = clock

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for a configuration that its type's engine or the chosen provider does not support."""
        lack = missing(configuration.provider, self._settings)
        if lack is not None:
            raise Invalid(f"provider: {configuration.provider} cannot be used here: {lack}")
        engine = engine_of(self._engines, configuration)
        if engine is not None:
            engine.check(configuration)

    def provider_of(self, configuration: ClusterConfiguration) -> str:
        """Return the name of the provider of a cluster's next start."""
        return configuration.provider or self._settings.cluster_provider

    def check_startable(self, cluster: ClusterRow) -> None:
        """Raise `Invalid` when this version cannot start clusters of this type."""
        if engine_of(self._engines, cluster.configuration) is None:
            raise Invalid(f"{cluster.type.words} clusters are not supported yet")

    def start(self, connection: sa.Connection, cluster: ClusterRow) -> int:
        """Begin to start a cluster that is DOWN; return the id of the new instance, which a driver then runs.

        Raises `Invalid` when clusters of this type cannot be started.
        """
        self.check_startable(cluster)
        now = self.clock()
        values = {
            "cluster_id": cluster.id,
            "state": ClusterState.PENDING.value,
            "configuration": to_json(cluster.configuration, with_labels=True),
            "provider": self.provider_of(cluster.configuration),
            "start_at": now,
            "last_used_at": now,
        }
        if cluster.configuration.is_external:
            owner = sa.select(users.c.email).where(users.c.id == cluster.user_id)
            email = connection.execute(owner).scalar_one()
            values["details"] = {SEALED_SECRETS: cluster.sealed_secrets, OWNER_EMAIL: email}
        inserted = connection.execute(sa.insert(cluster_instances).values(values)).inserted_primary_key
        assert inserted is not None
        self._move(connection, cluster, ClusterState.PENDING, instance_id=inserted[0])
        return int(inserted[0])

    def up(self, connection: sa.Connection, instance_id: int) -> bool:
        """Mark a PENDING instance as UP, and let its waiting commands begin.

        Returns False when it is no longer PENDING.
        """
        cluster = self._locked(connection, instance_id)
        if cluster is None or cluster.state is not ClusterState.PENDING:
            return False
        now = self.clock()
        self._write(connection, instance_id, state=ClusterState.UP.value, up_at=now, last_used_at=now, message=None)
        self._move(connection, cluster, ClusterState.UP)
        self._bus.publish(connection, WAITING, str(cluster.account_id))
        return True

    def terminate(self, connection: sa.Connection, cluster: ClusterRow, reason: str) -> None:
        """Begin to end a cluster that is PENDING or UP; its running and waiting commands end in `error`."""
        assert cluster.instance_id is not None
        state = ClusterState.TERMINATING.value
        self._write(connection, cluster.instance_id, state=state, terminate_reason=reason, message=None)
        self._move(connection, cluster, ClusterState.TERMINATING)
        for row in queue_of_clusters.end_waiting_for(connection, cluster.id, now=self.clock(), message=reason):
            call_apart(connection, self._at_end, row)
            self._bus.publish(connection, ENDED, str(row.id))
        self.stop_commands(connection, cluster.id, reason)

    def terminate_instance(self, connection: sa.Connection, instance_id: int, reason: str) -> None:
        """Like `terminate`, for an instance that has failed; does nothing when it is already being ended."""
        cluster = self._locked(connection, instance_id)
        if cluster is not None and cluster.state in (ClusterState.PENDING, ClusterState.UP):
            self.terminate(connection, cluster, reason)

    def stop_commands(self, connection: sa.Connection, cluster_id: int, reason: str) -> int:
        """Ask the commands that run on a cluster to end in `error`; return how many still run."""
        request = stop_request(StopReason.CLUSTER, reason)
        running = queue_of_clusters.running_on(connection, cluster_id)
        for command_id in running:
            queue.request_stop(connection, command_id, request)
            self._bus.publish(connection, STOP, f"{command_id} {request}")
        return len(running)

    def down(
        self,
        connection: sa.Connection,
        instance_id: int,
        *,
        details: Mapping[str, Any] | None = None,
        message: str | None = None,
    ) -> None:
        """Mark a TERMINATING instance as DOWN; commands submitted since then start the cluster again.

        `message` says what is left of it.
        """
        cluster = self._locked(connection, instance_id)
        if cluster is None or cluster.state is not ClusterState.TERMINATING:
            return
        connection.execute(sa.delete(cluster_nodes).where(cluster_nodes.c.instance_id == instance_id))
        values: dict[str, Any] = {"state": ClusterState.DOWN.value, "down_at": self.clock(), "message": message}
        self._write(connection, instance_id, **values, **({} if details is None else {"details": dict(details)}))
        self._move(connection, cluster, ClusterState.DOWN)
        if queue_of_clusters.some_wait_for(connection, cluster.id):
            after = lock_cluster(connection, cluster.id)
            assert after is not None
            self.start(connection, after)

    def _locked(self, connection: sa.Connection, instance_id: int) -> ClusterRow | None:
        """Lock and return the cluster whose current instance this is; None for an older one."""
        query = sa.select(cluster_instances.c.cluster_id).where(cluster_instances.c.id == instance_id)
        cluster_id = connection.execute(query).scalar_one_or_none()
        cluster = None if cluster_id is None else lock_cluster(connection, cluster_id)
        return cluster if cluster is not None and cluster.instance_id == instance_id else None

    def _move(self, connection: sa.Connection, cluster: ClusterRow, state: ClusterState, **values: Any) -> None:
        assert state in CLUSTER_TRANSITIONS[cluster.state], f"{cluster.state} → {state}"
        connection.execute(sa.update(clusters).where(clusters.c.id == cluster.id).values(state=state.value, **values))
        self._bus.publish(connection, CLUSTER, str(cluster.id))

    @staticmethod
    def _write(connection: sa.Connection, instance_id: int, **values: Any) -> None:
        connection.execute(sa.update(cluster_instances).where(cluster_instances.c.id == instance_id).values(**values))


class Change:
    """The next change of any cluster after this object was made."""

    def __init__(self) -> None:
        self._announced = asyncio.Event()

    def announce(self) -> None:
        """Wake the waiters."""
        self._announced.set()

    async def within(self, seconds: float | None) -> None:
        """Return after a change, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._announced.wait()
        except TimeoutError:
            return


class Changes:
    """Wakes all who wait for any cluster; they then read the rows."""

    def __init__(self, bus: Bus) -> None:
        self._next = Change()
        bus.subscribe(CLUSTER, self._on_change)

    def next(self) -> Change:
        """Return the next change; when made before the rows are read, it misses nothing."""
        return self._next

    def _on_change(self, _payload: str) -> None:
        self._next.announce()
        self._next = Change()


def state_record(cluster: ClusterRow, instances: Instances, connection: sa.Connection) -> dict[str, Any]:
    """Return the state of a cluster's running or last instance."""
    record: dict[str, Any] = {
        "state": cluster.state.value,
        "cluster_id": cluster.id,
        "config_id": cluster.id,
        "cluster_inst_id": cluster.instance_id,
        "start_at": None,
        "up_at": None,
        "down_at": None,
        "terminate_reason": None,
        "message": None,
        "nodes": [],
    }
    if cluster.instance_id is None:
        return record
    instance = instances.select(connection, instance_id=cluster.instance_id)
    record |= {key: _shown_time(getattr(instance, key)) for key in ("start_at", "up_at", "down_at")}
    record |= {"terminate_reason": instance.terminate_reason, "message": instance.message}
    nodes = sorted(instance.nodes, key=lambda node: (node.role is not NodeRole.MASTER, node.id))
    record["nodes"] = [_node(node) for node in nodes]
    return record


def _node(node: Node) -> dict[str, Any]:
    return {
        "role": node.role.value,
        "hostname": node.hostname,
        "private_ip": node.private_ip,
        "private_dns": node.private_dns,
        "instance_type": node.instance_type,
        "is_spot_instance": False,
        "status": node.status.value,
        "up_time": _shown_time(node.up_at),
        "last_seen_time": _shown_time(node.last_seen_at),
    }


def _shown_time(seconds: float | None) -> str | None:
    return None if seconds is None else iso_time(seconds)
