"""Sweeps what ended instances left behind: when the service starts, and again where it could not be ended.

Normally nothing is left. This is for remains of crashes, unreachable machines and full disks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

import sqlalchemy as sa
import structlog

from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.instances import Instance, Instances
from svc_jupyter.service.clusters.providers.provider import Provider, ProviderFailure
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.schema.clusters import cluster_instances

_AGAIN_SECONDS = 300.0
log = structlog.get_logger(__name__)


class Leftovers:
    """Sweeps the instances that are DOWN and not yet marked as swept."""

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
            else:
                await self._instances.change(instance.id, details={**instance.details, "is_swept": True})
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
