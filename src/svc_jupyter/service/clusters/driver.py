"""The driver: assigns instances to replicas, runs a task per instance of this one, and sweeps what ended ones left.

A replica that takes over the work of another one deletes its row in `replicas` (`commands/lease.py`), so an instance
whose replica has no row is free. Daemons of some providers can be driven from their host only: such an instance waits
for a replica there.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa
import structlog

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.providers.provider import Provider, ProviderFailure
from svc_jupyter.service.clusters.reconciler import Reconciler, Tools
from svc_jupyter.service.commands.queue import Replica, is_unclaimed
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import Pulse, run_forever
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.schema.clusters import cluster_instances
from svc_jupyter.service.schema.commands import replicas

log = structlog.get_logger(__name__)


class Driver:
    """Drives the clusters' instances. When the service stops, their daemons continue."""

    def __init__(self, tools: Tools) -> None:
        self.pulse = Pulse()
        """How late the loop is that assigns instances."""
        self._tools = tools
        self._running: dict[int, asyncio.Task[None]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._leftovers = Leftovers(tools.database, tools.instances, tools.providers, tools.replica)

    @property
    def is_driving(self) -> bool:
        """Whether this replica drives any instance."""
        return bool(self._running)

    async def start(self) -> None:
        """Find this replica's instances again, and begin to look for others."""
        loops = {"clusters": self._look, "cluster-leftovers": self._leftovers.step}
        self._loops = [asyncio.create_task(run_forever(name, step), name=name) for name, step in loops.items()]

    async def stop(self) -> None:
        """Stop driving; the daemons continue, and the next service finds them again."""
        tasks = [*self._loops, *self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        tools = self._tools
        self.pulse.begin()
        replica = tools.replica()
        changed = tools.changes.next()
        take = partial(_take_free, replica=replica, providers=tools.providers)
        await tools.database.write(take, durable=False)
        for instance_id in await tools.database.look_up(partial(_own_ids, replica=replica)):
            self._drive(instance_id)
        await self._give_up_stranded()  # on SQLite those of the machine on which the data folder was before
        # On SQLite there is no other replica that could leave an instance behind later.
        pause = None if tools.database.on_sqlite else tools.settings.lease_seconds / 3
        self.pulse.rest(math.inf if pause is None else pause)
        await changed.within(pause)

    def _drive(self, instance_id: int) -> None:
        known = self._running.get(instance_id)
        if known is not None and not known.done():
            return
        task = asyncio.create_task(Reconciler(self._tools, instance_id).run(), name=f"instance-{instance_id}")
        self._running[instance_id] = task
        task.add_done_callback(lambda ended: self._ended(instance_id, ended))

    def _ended(self, instance_id: int, task: asyncio.Task[None]) -> None:
        if self._running.get(instance_id) is task:
            del self._running[instance_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("drive_failed", instance_id=instance_id, exc_info=error)

    async def _give_up_stranded(self) -> None:
        """End, in the database, the instances of hosts that no longer answer."""
        tools = self._tools
        for instance in await tools.database.read(partial(_stranded, replica=tools.replica())):
            log.warning("cluster_stranded", instance_id=instance.id, host=instance.host)
            if instance.state is not ClusterState.TERMINATING:
                reason = f"the service on {instance.host}, where the cluster runs, no longer answers"
                await tools.database.write(
                    partial(tools.life_cycle.terminate_instance, instance_id=instance.id, reason=reason)
                )
            # The processes there are swept when a service starts on that host again.
            await tools.database.write(partial(tools.life_cycle.down, instance_id=instance.id))


_AGAIN_SECONDS = 300.0


class Leftovers:
    """Sweeps the instances that are DOWN and not marked as swept: after a crash, or an end that failed."""

    def __init__(
        self,
        database: Database,
        instances: Instances,
        providers: Mapping[str, Provider],
        replica: Callable[[], Replica],
    ) -> None:
        self._database = database
        self._instances = instances
        self._providers = providers
        self._replica = replica

    async def step(self) -> None:
        """Sweep once, then wait until the next sweep is due."""
        for instance in await self._database.read(partial(self._unswept, host=self._replica().host)):
            try:
                await self._providers[instance.provider].sweep(instance)
                await self._instances.clear_folder(instance)
            except (ProviderFailure, OSError) as error:
                log.warning("cluster_leftovers", instance_id=instance.id, reason=str(error))
            except Unavailable:
                raise
            except Exception:
                log.exception("cluster_leftovers", instance_id=instance.id)  # the next instance is swept anyway
            else:
                swept = {**instance.details, "is_swept": True}
                await self._instances.change(instance.id, details=swept, message=None)
        await asyncio.sleep(_AGAIN_SECONDS)

    def _unswept(self, connection: sa.Connection, host: str) -> list[Instance]:
        here = sa.or_(cluster_instances.c.host.is_(None), cluster_instances.c.host == host)
        rows = connection.execute(
            sa.select(cluster_instances.c.id, cluster_instances.c.details).where(
                cluster_instances.c.state == ClusterState.DOWN.value,
                cluster_instances.c.provider.in_(self._providers),
                here,
            )
        ).all()
        unswept = [row.id for row in rows if not (row.details or {}).get("is_swept")]
        return [self._instances.select(connection, instance_id=instance_id) for instance_id in unswept]


_I = cluster_instances.c
_ACTIVE = _I.state != ClusterState.DOWN.value
_UNCLAIMED = is_unclaimed(_I.replica_id)


@dataclass(frozen=True, slots=True)
class _Stranded:
    """An instance on a host without a replica."""

    id: int
    state: ClusterState
    host: str


def _own_ids(connection: sa.Connection, replica: Replica) -> list[int]:
    """Return the ids of the active instances that the replica drives."""
    return list(connection.execute(sa.select(_I.id).where(_ACTIVE, _I.replica_id == replica.id)).scalars())


def _take_free(connection: sa.Connection, replica: Replica, providers: Mapping[str, Provider]) -> list[int]:
    """Take the free instances that can be driven from here; return their ids."""
    free = sa.select(_I.id, _I.provider, _I.replica_id).where(
        _ACTIVE, _UNCLAIMED, sa.or_(_I.host.is_(None), _I.host == replica.host)
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


def _stranded(connection: sa.Connection, replica: Replica) -> list[_Stranded]:
    """Return the active instances that only another host can drive while it has no replica."""
    hosts = sa.select(replicas.c.host)
    query = sa.select(_I.id, _I.state, _I.host).where(
        _ACTIVE, _UNCLAIMED, _I.host.is_not(None), _I.host != replica.host, _I.host.not_in(hosts)
    )
    return [_Stranded(row.id, ClusterState(row.state), row.host) for row in connection.execute(query)]
