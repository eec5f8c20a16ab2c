"""The health of a Presto cluster, read live from its servers.

All are asked concurrently; a server that does not answer within 2 s is DOWN. `zeppelin`, the notebooks' server, is the
coordinator's statement endpoint: cells of `%%svc_presto` and commands run through it, and there is no other server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from svc_jupyter.service.clusters.cluster_engine import Sample, ServiceLook, ServiceProbe
from svc_jupyter.service.clusters.health_entries import heap_entry, master_entry, service_entry, status_of
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.provider import Provider, ProviderFailure
from svc_jupyter.service.runtimes.hadoop.daemon_http import ANSWER_SECONDS, DaemonSilent
from svc_jupyter.service.runtimes.presto.addresses import coordinator_http, http_of
from svc_jupyter.service.runtimes.presto.presto_rest import ClusterFigures, PrestoRest, ServerStatus

Answer = TypeVar("Answer")
_AT_ONCE: Final = 32
"""Limit of concurrent requests to workers."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The servers' answers; None where a server did not answer."""

    figures: ClusterFigures | None
    coordinator: ServerStatus | None
    workers: Sequence[ServerStatus]
    metastore: ServiceLook | None
    is_metastore_known: bool
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
            figures = group.create_task(_unless_silent(self._rest.figures(coordinator)))
            status = group.create_task(_unless_silent(self._rest.status(coordinator)))
            workers = group.create_task(self._workers(instance))
            metastore = group.create_task(self._look_at_metastore(instance))
            load = group.create_task(self._load(instance))
        look, is_known = metastore.result()
        return Findings(figures.result(), status.result(), workers.result(), look, is_known, load.result())

    async def _workers(self, instance: Instance) -> Sequence[ServerStatus]:
        places = asyncio.Semaphore(_AT_ONCE)

        async def ask(address: str) -> ServerStatus | None:
            async with places:
                return await _unless_silent(self._rest.status(address))

        told = await asyncio.gather(*(ask(http_of(node)) for node in instance.workers))
        return [status for status in told if status is not None]

    async def _look_at_metastore(self, instance: Instance) -> tuple[ServiceLook | None, bool]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._metastore.look(instance), True
        except TimeoutError:
            return None, False

    async def _load(self, instance: Instance) -> Mapping[str, float]:
        assert instance.master is not None
        machine = self._providers[instance.provider].machine(instance, instance.master)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await machine.load()
        except (TimeoutError, ProviderFailure):
            return {}


def metrics_of(found: Findings) -> dict[str, Any]:
    """Return the record's `metrics`."""
    statement_endpoint = status_of(found.figures is not None)
    return {
        "engine": {"presto": {"status": status_of(found.is_up), "heap": heap_entry(engine_heap(found))}},
        "daemons": {
            "hive_metastore": service_entry(found.metastore, is_known=found.is_metastore_known),
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
        "hive_metastore_heap": None if found.metastore is None else found.metastore.heap_percent,
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


async def _unless_silent(question: Coroutine[Any, Any, Answer]) -> Answer | None:
    try:
        return await question
    except DaemonSilent:
        return None
