"""Waiting until a Presto cluster, or a new worker of it, really answers queries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.engines.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.engines.presto.addresses import coordinator_http, http_of
from svc_jupyter.service.engines.presto.causes import explain
from svc_jupyter.service.engines.presto.nodes import PrestoNodes
from svc_jupyter.service.engines.presto.presto_rest import PrestoRest

START_SECONDS: Final = 240.0
"""How long the servers may take; 15 to 30 s with their discovery on two busy processors."""
_LOOK_EVERY: Final = 0.2
_DEATHS_EVERY: Final = 0.5
_QUERY_SECONDS: Final = 30.0
_ACTIVE_WORKERS: Final = "SELECT http_uri FROM system.runtime.nodes WHERE NOT coordinator AND state = 'active'"
_FIRST_QUERY: Final = "SELECT count(*) FROM tpch.tiny.nation"
"""It goes through planning, workers and a connector: where it works, so do a user's."""


class Readiness:
    """Looks at servers that start."""

    def __init__(self, nodes: PrestoNodes, rest: PrestoRest) -> None:
        self._nodes = nodes
        self._rest = rest

    async def wait(self, instance: Instance, say: Say) -> None:
        """Return once a query worked with all workers there. Raises `ClusterFailure` when a server ends instead."""
        await self._until(instance, instance.nodes, instance.workers, say, with_query=True)

    async def wait_for(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """Return once the coordinator gives these workers work. Raises `ClusterFailure` when one of them ends."""
        await self._until(instance, nodes, nodes, _quietly, with_query=False)

    async def _until(
        self, instance: Instance, watched: Collection[Node], workers: Collection[Node], say: Say, *, with_query: bool
    ) -> None:
        rest = PrestoRest(_QUERY_SECONDS)
        ready = asyncio.create_task(self._ready(instance, rest, workers, say, with_query=with_query))
        deaths = asyncio.create_task(self._watch_deaths(instance, watched))
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.wait([ready, deaths], return_when=asyncio.FIRST_COMPLETED)
            for task in (ready, deaths):
                if task.done():
                    task.result()
                    return
        except TimeoutError:
            names = ", ".join(node.private_dns for node in workers)
            raise ClusterFailure(
                f"the coordinator does not use {names} after {START_SECONDS:.0f} s; see logs/presto.err of each node"
            ) from None
        finally:
            for task in (ready, deaths):
                task.cancel()
            await asyncio.gather(ready, deaths, return_exceptions=True)
            await rest.close()

    async def _ready(
        self, instance: Instance, rest: PrestoRest, workers: Collection[Node], say: Say, *, with_query: bool
    ) -> None:
        coordinator = coordinator_http(instance)
        await self._until_started(coordinator, workers, say)
        wanted = {node.private_ip for node in workers}
        while not wanted <= await self._active(coordinator, rest):  # noqa: ASYNC110  what is waited for is Presto's
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
        """Return the addresses of the workers that get work; none while the coordinator counts none."""
        try:
            if not (await self._rest.figures(coordinator)).active_workers:
                return frozenset()
            rows = await rest.rows(coordinator, _ACTIVE_WORKERS)
        except DaemonSilent:
            return frozenset()
        return frozenset(urlsplit(uri).hostname or "" for (uri,) in rows)

    async def _watch_deaths(self, instance: Instance, nodes: Collection[Node]) -> None:
        while True:
            for node in nodes:
                machine = self._nodes.machine(instance, node)
                for state in await machine.daemons():
                    if not state.is_running:
                        output = await machine.tail(state.name, 32_768)
                        raise ClusterFailure(explain(node.private_dns, output, state.exit_code))
            await asyncio.sleep(_DEATHS_EVERY)


def _quietly(_line: str) -> None:
    """Whoever waits for single workers tells of them."""
