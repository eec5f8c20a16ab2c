"""Calls of the Presto servers' REST API, and the health read with them. A silent server raises `DaemonSilent`."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any, Final
from urllib.parse import urlsplit

from svc_jupyter.service.clusters.cluster_engine import Sample, ServiceProbe
from svc_jupyter.service.clusters.health_entries import (
    ANSWER_SECONDS,
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
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent, unless_silent
from svc_jupyter.service.runtimes.presto.access import UI_PATH, path_of
from svc_jupyter.service.runtimes.presto.configuration import coordinator_http, http_of

USER_HEADER: Final = "X-Presto-User"
SHUTTING_DOWN: Final = "SHUTTING_DOWN"
OVER: Final = frozenset({"FINISHED", "FAILED"})
WORKING: Final = frozenset({"PLANNED", "RUNNING"})
"""The states of unfinished tasks."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server's memory in bytes."""

    heap_used: int
    heap_maximum: int


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    """The coordinator's counters: active workers, and queries by state."""

    active_workers: int
    running_queries: int
    waiting_queries: int


class PrestoRest:
    """Sends requests to servers, by the address of each (`http://host:port`)."""

    def __init__(
        self,
        seconds: float = ANSWER_SECONDS,
        headers: Mapping[str, str] | None = None,
        context: SSLContext | None = None,
    ) -> None:
        """`headers` name the user, and log in where that is needed; by default the user of the service's process."""
        # The answer to a change of state is plain text; a request for JSON only would be refused.
        user = {USER_HEADER: getpass.getuser()} if headers is None else headers
        self._http = DaemonHttp(seconds, {**user, "Accept": "application/json, text/plain"}, context)

    async def is_started(self, address: str) -> bool:
        """Return whether a server has started."""
        return (await self.info(address))["starting"] is False

    async def info(self, address: str) -> Mapping[str, Any]:
        """Return a server's facts about itself: `nodeVersion`, `starting`, `uptime` …; this needs no login."""
        answer = await self._http.get(f"{address}/v1/info")
        if not isinstance(answer, dict) or not isinstance(answer.get("starting"), bool):
            raise DaemonSilent(f"{address} is not a coordinator: its /v1/info is something else")
        return answer

    async def figures(self, coordinator: str) -> ClusterFigures:
        """Return the coordinator's counters."""
        answer = await self._http.get(f"{coordinator}/v1/cluster")
        return ClusterFigures(
            int(answer["activeWorkers"]),
            int(answer["runningQueries"]),
            int(answer["queuedQueries"]) + int(answer["blockedQueries"]),
        )

    async def status(self, address: str) -> ServerStatus:
        """Return a server's memory."""
        return parse_status(await self._http.get(f"{address}/v1/status"))

    async def queries_at_work(self, worker: str) -> frozenset[str]:
        """Return the ids of the queries with running tasks on a worker."""
        return parse_tasks(await self._http.get(f"{worker}/v1/task"))

    async def announced(self, coordinator: str) -> frozenset[str]:
        """Return the addresses, without ports, of the servers that the coordinator has recently heard from."""
        answer = await self._http.get(f"{coordinator}/v1/service/presto")
        return parse_announced(answer)

    async def shut_down(self, address: str) -> None:
        """Order a worker to take no more work and to end when its work is done."""
        await self._http.put(f"{address}/v1/info/state", SHUTTING_DOWN)

    async def queries(self, coordinator: str, source: str) -> Sequence[str]:
        """Return the ids of the unfinished queries with a source or a trace token."""
        answer = await self._http.get(f"{coordinator}/v1/query")
        mine = (query for query in answer if source in _names_of(query.get("session", {})))
        return [str(query["queryId"]) for query in mine if query["state"] not in OVER]

    async def end_query(self, coordinator: str, query_id: str) -> None:
        """End a query; has no effect on a finished one."""
        await self._http.delete(f"{coordinator}/v1/query/{query_id}")

    async def rows(self, coordinator: str, query: str) -> list[list[Any]]:
        """Return the rows of a small query. Raises `DaemonSilent` also for one that fails, with its message."""
        answer = await self._http.post_text(f"{coordinator}/v1/statement", query)
        rows: list[list[Any]] = []
        while True:
            rows += answer.get("data", ())
            if (error := answer.get("error")) is not None:
                raise DaemonSilent(str(error.get("message")))
            following = answer.get("nextUri")
            if following is None:
                return rows
            # A coordinator behind a proxy may give its own address.
            answer = await self._http.get(f"{coordinator}{path_of(following)}")

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        await self._http.close()


def _names_of(session: Mapping[str, Any]) -> tuple[Any, Any]:
    return session.get("source"), session.get("traceToken")


def parse_status(answer: Any) -> ServerStatus:
    """Return the figures in a server's `/v1/status`."""
    return ServerStatus(int(answer["heapUsed"]), int(answer["heapAvailable"]))


def parse_tasks(answer: Any) -> frozenset[str]:
    """Return the ids of the queries with a running task in a worker's list of tasks; a task may use no memory."""
    working = (task["taskId"] for task in answer if task["taskStatus"]["state"] in WORKING)
    return frozenset(str(name).partition(".")[0] for name in working)


def parse_announced(answer: Any) -> frozenset[str]:
    """Return the addresses in the coordinator's list of servers."""
    places = (urlsplit(service["properties"]["http"]).hostname for service in answer["services"])
    return frozenset(place for place in places if place)


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
    """Checks Presto clusters on any provider: asks all servers at once.

    `zeppelin`, the notebooks' server, is the coordinator's statement endpoint: cells of `%%svc_presto` and commands run
    through it, and there is no other server.
    """

    def __init__(self, providers: Mapping[str, Provider], rest: PrestoRest, metastore: ServiceProbe) -> None:
        self._providers = providers
        self._rest = rest
        self._metastore = metastore

    async def sample(self, instance: Instance) -> Sample:
        """Return a live sample of a cluster that is UP."""
        found = await self._look(instance)
        return Sample(metrics_of(found), values_of(found), pages_of(found, coordinator_http(instance)))

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


def pages_of(found: Findings, coordinator: str) -> dict[str, str]:
    """Return the page of the coordinator, where it answers."""
    return {} if found.figures is None else {"Presto": f"{coordinator}{UI_PATH}"}


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
