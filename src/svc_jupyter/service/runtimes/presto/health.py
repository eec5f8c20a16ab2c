"""The health of a Presto cluster, read live from its servers.

All are asked concurrently; a server that does not answer within 2 s is DOWN. `zeppelin`, the notebooks' server, is the
coordinator's statement endpoint: cells of `%%svc_presto` and commands run through it, and there is no other server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from svc_jupyter.service.clusters.cluster_engine import Sample, ServiceProbe
from svc_jupyter.service.clusters.health_entries import (
    ServiceState,
    heap_entry,
    load_of_master,
    master_entry,
    service_entry,
    state_of,
    status_of,
)
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.runtimes.hadoop.daemon_http import unless_silent
from svc_jupyter.service.runtimes.presto.configuration import coordinator_http, http_of
from svc_jupyter.service.runtimes.presto.presto_rest import ClusterFigures, PrestoRest, ServerStatus

_AT_ONCE: Final = 32
"""Limit of concurrent requests to workers."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The servers' answers; None where a server did not answer."""

    figures: ClusterFigures | None
    coordinator: ServerStatus | None
    workers: Sequence[ServerStatus]
    metastore: ServiceState
    load: Mapping[str, float]

    @property
    def is_up(self) -> bool:
        """Whether there is a coordinator and at least one worker."""
        return self.figures is not None and self.figures.active_workers > 0


class PrestoHealth:
    """Checks Presto clusters on any provider."""

    def __init__(self, providers: Mapping[str, Provider], rest: PrestoRest, metastore: ServiceProbe) -> None:
        self._providers = providers
        self._rest = rest
        self._metastore = metastore

    async def sample(self, instance: Instance) -> Sample:
        """Return a live sample of a cluster that is UP."""
        found = await self._look(instance)
        return Sample(metrics_of(found), values_of(found))

    async def _look(self, instance: Instance) -> Findings:
        coordinator = coordinator_http(instance)
        async with asyncio.TaskGroup() as group:
            figures = group.create_task(unless_silent(self._rest.figures(coordinator)))
            status = group.create_task(unless_silent(self._rest.status(coordinator)))
            workers = group.create_task(self._workers(instance))
            metastore = group.create_task(state_of(self._metastore, instance))
            load = group.create_task(load_of_master(self._providers, instance))
        return Findings(figures.result(), status.result(), workers.result(), metastore.result(), load.result())

    async def _workers(self, instance: Instance) -> Sequence[ServerStatus]:
        places = asyncio.Semaphore(_AT_ONCE)

        async def ask(address: str) -> ServerStatus | None:
            async with places:
                return await unless_silent(self._rest.status(address))

        answers = await asyncio.gather(*(ask(http_of(node)) for node in instance.workers))
        return [status for status in answers if status is not None]


def metrics_of(found: Findings) -> dict[str, Any]:
    """Return the record's `metrics`."""
    statement_endpoint = status_of(found.figures is not None)
    return {
        "engine": {"presto": {"status": status_of(found.is_up), "heap": heap_entry(engine_heap(found))}},
        "daemons": {
            "hive_metastore": service_entry(found.metastore),
            "zeppelin": {"status": statement_endpoint, "heap": heap_entry(_percent([found.coordinator]))},
        },
        "system": {"master": master_entry(found.load)},
    }


def values_of(found: Findings) -> dict[str, float]:
    """Return the values kept for plots, by the names of `metrics.METRICS`."""
    values: dict[str, float | None] = {
        "cpu_usage": found.load.get("cpu_percent"),
        "disk_usage": found.load.get("disk_percent"),
        "presto_heap": engine_heap(found),
        "zeppelin_heap": _percent([found.coordinator]),
        "hive_metastore_heap": found.metastore.heap_percent,
    }
    if (figures := found.figures) is not None:
        values |= {
            "presto_workers": figures.active_workers,
            "queries_running": figures.running_queries,
            "queries_waiting": figures.waiting_queries,
        }
    return {name: float(value) for name, value in values.items() if value is not None}


def engine_heap(found: Findings) -> float | None:
    """Return the used share of all heaps of coordinator and workers together, 0..100."""
    return _percent([found.coordinator, *found.workers])


def _percent(servers: Sequence[ServerStatus | None]) -> float | None:
    known = [server for server in servers if server is not None]
    maximum = sum(server.heap_maximum for server in known)
    return 100 * sum(server.heap_used for server in known) / maximum if maximum else None
