"""Calls of the Presto servers' REST API. Each raises `DaemonSilent` for a server that does not answer."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent

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

    def __init__(self, seconds: float | None = None) -> None:
        # The answer to a change of state is plain text; a request for JSON only would be refused.
        headers = {USER_HEADER: getpass.getuser(), "Accept": "application/json, text/plain"}
        self._http = DaemonHttp(headers=headers) if seconds is None else DaemonHttp(seconds, headers=headers)

    async def is_started(self, address: str) -> bool:
        """Return whether a server has started."""
        return (await self._http.get(f"{address}/v1/info"))["starting"] is False

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
        """Return the ids of a source's unfinished queries."""
        answer = await self._http.get(f"{coordinator}/v1/query")
        mine = (query for query in answer if query.get("session", {}).get("source") == source)
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
            answer = await self._http.get(following)

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        await self._http.close()


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
