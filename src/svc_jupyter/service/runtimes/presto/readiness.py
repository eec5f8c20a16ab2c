"""Waits until a Presto cluster, or a new worker of it, answers queries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.supervision import Daemons, unless_one_dies
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.presto.addresses import coordinator_http, http_of
from svc_jupyter.service.runtimes.presto.presto_rest import PrestoRest

START_SECONDS: Final = 240.0
"""Limit for the servers' start; 15 to 30 s with their discovery on two busy processors."""
_LOOK_EVERY: Final = 0.2
_QUERY_SECONDS: Final = 30.0
_ACTIVE_WORKERS: Final = "SELECT http_uri FROM system.runtime.nodes WHERE NOT coordinator AND state = 'active'"
_FIRST_QUERY: Final = "SELECT count(*) FROM tpch.tiny.nation"
"""It passes planning, workers and a connector: once it works, so do a user's queries."""


class Readiness:
    """Checks the starting servers."""

    def __init__(self, daemons: Daemons, rest: PrestoRest) -> None:
        self._daemons = daemons
        self._rest = rest

    async def wait(self, instance: Instance, say: Say) -> None:
        """Return once a query has run with all workers. Raises `ClusterFailure` when a server ends instead."""
        await self._until(instance, instance.nodes, instance.workers, START_SECONDS, say, with_query=True)

    async def wait_for(self, instance: Instance, worker: Node, seconds: float) -> None:
        """Return once the coordinator assigns work to a worker. Raises `ClusterFailure` when its server ends."""
        await self._until(instance, [worker], [worker], seconds, _quietly, with_query=False)

    async def _until(
        self,
        instance: Instance,
        watched: Collection[Node],
        workers: Collection[Node],
        seconds: float,
        say: Say,
        *,
        with_query: bool,
    ) -> None:
        rest = PrestoRest(_QUERY_SECONDS)
        ready = self._ready(instance, rest, workers, say, with_query=with_query)
        try:
            async with asyncio.timeout(seconds):
                await unless_one_dies(ready, self._daemons, instance, watched)
        except TimeoutError:
            names = ", ".join(node.private_dns for node in workers)
            raise ClusterFailure(
                f"the coordinator does not use {names} after {seconds:.0f} s; see logs/presto.err of each node"
            ) from None
        finally:
            await rest.close()

    async def _ready(
        self, instance: Instance, rest: PrestoRest, workers: Collection[Node], say: Say, *, with_query: bool
    ) -> None:
        coordinator = coordinator_http(instance)
        await self._until_started(coordinator, workers, say)
        wanted = {node.private_ip for node in workers}
        while not wanted <= await self._active(coordinator, rest):  # noqa: ASYNC110  no event
            await asyncio.sleep(_LOOK_EVERY)
        if with_query:
            while True:
                try:
                    await rest.rows(coordinator, _FIRST_QUERY)
                except DaemonSilent:
                    await asyncio.sleep(_LOOK_EVERY)
                else:
                    return

    async def _until_started(self, coordinator: str, workers: Collection[Node], say: Say) -> None:
        began = time.monotonic()
        waiting = {coordinator: "the coordinator", **{http_of(node): node.private_dns for node in workers}}
        while waiting:
            for address in list(waiting):
                try:
                    if await self._rest.is_started(address):
                        say(f"{waiting.pop(address)} is up ({time.monotonic() - began:.1f} s)")
                except DaemonSilent:
                    pass
            if waiting:
                await asyncio.sleep(_LOOK_EVERY)

    async def _active(self, coordinator: str, rest: PrestoRest) -> frozenset[str]:
        """Return the addresses of the active workers; none while the coordinator counts none."""
        try:
            if not (await self._rest.figures(coordinator)).active_workers:
                return frozenset()
            rows = await rest.rows(coordinator, _ACTIVE_WORKERS)
        except DaemonSilent:
            return frozenset()
        return frozenset(urlsplit(uri).hostname or "" for (uri,) in rows)


def _quietly(_line: str) -> None:
    """Discard the line: the caller that waits for single workers reports them."""
