"""The driver: runs a task per instance of this replica, and looks for instances without a replica."""

from __future__ import annotations

import asyncio
from functools import partial

import structlog

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters import ownership
from svc_jupyter.service.clusters.drive import Drive, Tools
from svc_jupyter.service.clusters.leftovers import Leftovers
from svc_jupyter.service.ground.background import run_forever

log = structlog.get_logger(__name__)


class Driver:
    """Drives the clusters' instances. When the service stops, their daemons continue."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._drives: dict[int, asyncio.Task[None]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._leftovers = Leftovers(tools.database, tools.instances, tools.providers, tools.replica)

    @property
    def is_driving(self) -> bool:
        """Whether this replica drives any instance."""
        return bool(self._drives)

    async def start(self) -> None:
        """Find this replica's instances again, and begin to look for others."""
        loops = {"clusters": self._look, "cluster-leftovers": self._leftovers.step}
        self._loops = [asyncio.create_task(run_forever(name, step), name=name) for name, step in loops.items()]

    async def stop(self) -> None:
        """Stop driving; the daemons continue, and the next service finds them again."""
        tasks = [*self._loops, *self._drives.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self) -> None:
        tools = self._tools
        replica = tools.replica()
        changed = tools.changes.next()
        take = partial(ownership.take, replica=replica, providers=tools.providers)
        await tools.database.write(take, durable=False)
        for instance_id in await tools.database.look_up(partial(ownership.own, replica=replica)):
            self._drive(instance_id)
        if not tools.database.on_sqlite:
            await self._give_up_stranded()
        # On SQLite there is no other replica that could leave an instance behind.
        await changed.within(None if tools.database.on_sqlite else tools.settings.lease_seconds / 3)

    def _drive(self, instance_id: int) -> None:
        known = self._drives.get(instance_id)
        if known is not None and not known.done():
            return
        task = asyncio.create_task(Drive(self._tools, instance_id).run(), name=f"instance-{instance_id}")
        self._drives[instance_id] = task
        task.add_done_callback(lambda ended: self._ended(instance_id, ended))

    def _ended(self, instance_id: int, task: asyncio.Task[None]) -> None:
        if self._drives.get(instance_id) is task:
            del self._drives[instance_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("drive_failed", instance_id=instance_id, exc_info=error)

    async def _give_up_stranded(self) -> None:
        """End, in the database, the instances of hosts that no longer answer."""
        tools = self._tools
        for instance in await tools.database.read(partial(ownership.stranded, replica=tools.replica())):
            log.warning("cluster_stranded", instance_id=instance.id, host=instance.host)
            if instance.state is not ClusterState.TERMINATING:
                reason = f"the service on {instance.host}, where the cluster runs, no longer answers"
                await tools.database.write(
                    partial(tools.life_cycle.terminate_instance, instance_id=instance.id, reason=reason)
                )
            # The processes there are swept when a service starts on that host again.
            await tools.database.write(partial(tools.life_cycle.down, instance_id=instance.id))
