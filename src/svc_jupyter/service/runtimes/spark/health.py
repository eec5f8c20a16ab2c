"""The health of Spark clusters.

`zeppelin`, the contract's notebook server, is the session server here: notebooks run in its sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Sample, ServiceProbe
from svc_jupyter.service.clusters.health_entries import (
    DOWN,
    UP,
    heap_entry,
    load_of_master,
    master_entry,
    service_entry,
    state_of,
)
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HealthOf
from svc_jupyter.service.runtimes.spark.program import runs_on_yarn
from svc_jupyter.service.runtimes.spark.session_client import ServerSilent, SessionClient
from svc_jupyter.service.runtimes.spark.session_servers import SessionServers

_ANSWER_SECONDS: Final = 1.8


class SparkHealth:
    """Checks Spark clusters."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        servers: SessionServers,
        on_yarn: HealthOf,
        metastore: ServiceProbe,
    ) -> None:
        """`on_yarn` checks the daemons of Hadoop."""
        self._providers = providers
        self._servers = servers
        self._on_yarn = on_yarn
        self._metastore = metastore

    async def sample(self, instance: Instance) -> Sample:
        """Return a live sample; a service that does not answer within 2 s is DOWN."""
        is_on_yarn = runs_on_yarn(instance.configuration.custom_settings)
        look = self._on_yarn.sample(instance) if is_on_yarn else self._without_hadoop(instance)
        sample, server = await asyncio.gather(look, self._server(instance))
        daemons = {**sample.metrics["daemons"], "zeppelin": server.metrics}
        metrics = {**sample.metrics, "daemons": daemons}
        return Sample(metrics, {**sample.values, **server.values}, {**sample.pages, **server.pages})

    async def _without_hadoop(self, instance: Instance) -> Sample:
        metastore, load = await asyncio.gather(
            state_of(self._metastore, instance), load_of_master(self._providers, instance)
        )
        metrics = {
            "engine": {"spark": {}},
            "daemons": {"hive_metastore": service_entry(metastore)},
            "system": {"master": master_entry(load)},
        }
        known = {"cpu_usage": load.get("cpu_percent"), "disk_usage": load.get("disk_percent")}
        return Sample(metrics, {name: value for name, value in known.items() if value is not None})

    async def _server(self, instance: Instance) -> Sample:
        """Return the sample of the session server alone; DOWN when it does not answer."""
        try:
            address = self._servers.address(instance)
            async with asyncio.timeout(_ANSWER_SECONDS):
                async with SessionClient(address.host, address.port, address.secret) as client:
                    vitals = await client.ping()
        except (ClusterFailure, ServerSilent, TimeoutError):
            return Sample({"status": DOWN, "heap": heap_entry(None)})
        heap = 100 * float(vitals["heap_used"]) / max(1.0, float(vitals["heap_max"]))
        pages = {"Spark": f"{vitals['ui']}/jobs/"} if vitals["ui"] else {}
        return Sample({"status": UP, "heap": heap_entry(heap)}, {"zeppelin_heap": heap}, pages)
