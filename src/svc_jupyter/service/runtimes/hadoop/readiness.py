"""Waits until a cluster's daemons answer, or reports why one of them never will."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.supervision import Daemons, check_alive, unless_one_dies
from svc_jupyter.service.runtimes.hadoop import jmx
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses, Port
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent
from svc_jupyter.service.runtimes.hadoop.daemons import HadoopDaemon
from svc_jupyter.service.runtimes.hadoop.yarn_rest import RUNNING, YarnRest

START_SECONDS: Final = 180.0
"""Limit for all daemons together; 8 to 12 s on two idle processors."""
_LOOK_EVERY: Final = 0.1
_ANSWER_SECONDS: Final = 5.0
"""A starting daemon may answer more slowly than a running one."""


class Readiness:
    """Checks the starting daemons."""

    def __init__(self, daemons: Daemons, yarn: YarnRest) -> None:
        self._daemons = daemons
        self._yarn = yarn

    async def wait(self, instance: Instance, say: Say) -> None:
        """Return once YARN has all workers and HDFS accepts files. Raises `ClusterFailure` when a daemon ends."""
        http = DaemonHttp(_ANSWER_SECONDS)
        try:
            async with asyncio.timeout(START_SECONDS):
                ready = self._wait_for_hdfs_and_yarn(instance, http, say)
                await unless_one_dies(ready, self._daemons, instance, instance.nodes)
        except TimeoutError:
            raise ClusterFailure(
                f"the daemons were not ready within {START_SECONDS:.0f} s: {await self._missing(instance, http)}"
            ) from None
        finally:
            await http.close()

    async def history_answers(self, instance: Instance) -> bool:
        """Return whether the history server listens."""
        return await _listens(Addresses.of(instance).master, Port.HISTORY)

    async def wait_for_history(self, instance: Instance, master: Node) -> None:
        """Return once the history server listens. Raises `ClusterFailure` when it ends instead."""
        deadline = time.monotonic() + START_SECONDS
        while not await self.history_answers(instance):
            await check_alive(self._daemons, instance, master, only=HadoopDaemon.HISTORY_SERVER)
            if time.monotonic() > deadline:
                raise ClusterFailure(f"the history server on {master.private_dns} does not answer")
            await asyncio.sleep(_LOOK_EVERY)

    async def _wait_for_hdfs_and_yarn(self, instance: Instance, http: DaemonHttp, say: Say) -> None:
        yarn = YarnRest(http)
        addresses = Addresses.of(instance)
        reported = -1
        while True:
            running = await _registered(yarn, addresses, instance.workers)
            if running != reported:
                say(f"{running} of {len(instance.workers)} workers registered")
                reported = running
            if running == len(instance.workers) and await _takes_files(http, addresses):
                return
            await asyncio.sleep(_LOOK_EVERY)

    async def _missing(self, instance: Instance, http: DaemonHttp) -> str:
        addresses = Addresses.of(instance)
        try:
            known = await YarnRest(http).nodes(addresses.resource_manager_http)
        except DaemonSilent as error:
            return f"the ResourceManager is silent ({error.message})"
        lacking = [
            node.private_dns
            for node in instance.workers
            if node.private_ip not in known or known[node.private_ip].state != RUNNING
        ]
        return f"YARN lacks {', '.join(lacking)}" if lacking else "HDFS has no DataNode or takes no files"


async def _registered(yarn: YarnRest, addresses: Addresses, workers: Sequence[Node]) -> int:
    if not await _listens(addresses.master, Port.RESOURCE_MANAGER_HTTP):
        return 0
    try:
        known = await yarn.nodes(addresses.resource_manager_http)
    except DaemonSilent:
        return 0
    return sum(known[node.private_ip].state == RUNNING for node in workers if node.private_ip in known)


async def _takes_files(http: DaemonHttp, addresses: Addresses) -> bool:
    try:
        return (await jmx.file_system(http, addresses.name_node_http)).live_data_nodes > 0
    except DaemonSilent:
        return False


async def _listens(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(1):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
