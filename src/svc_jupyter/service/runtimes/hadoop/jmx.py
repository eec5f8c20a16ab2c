"""Figures of Hadoop's daemons from `/jmx`: heap, state, counters."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp, DaemonSilent

_MEMORY = "java.lang:type=Memory"
_RUNTIME = "java.lang:type=Runtime"
_NODE_MANAGER = "Hadoop:service=NodeManager,name=NodeManagerMetrics"
_NAME_NODE = "Hadoop:service=NameNode,name=FSNamesystemState"


@dataclass(frozen=True, slots=True)
class HeapUse:
    """A JVM's heap, in bytes."""

    used: int
    maximum: int

    @property
    def percent(self) -> float:
        """The used share, 0..100."""
        return 100 * self.used / self.maximum if self.maximum > 0 else 0.0


@dataclass(frozen=True, slots=True)
class ContainerCounters:
    """The counters of one NodeManager process since its start; `started` distinguishes it from its successor."""

    started: int
    failed: int
    killed: int


@dataclass(frozen=True, slots=True)
class FileSystemUse:
    """HDFS as the NameNode sees it; sizes in bytes."""

    capacity: int
    used: int
    live_data_nodes: int


async def heap(http: DaemonHttp, address: str) -> HeapUse:
    """Return the heap of the daemon at `http://host:port`. Raises `DaemonSilent`."""
    return parse_heap(await _bean(http, address, _MEMORY))


async def container_counters(http: DaemonHttp, address: str) -> ContainerCounters:
    """Return the counters of a NodeManager. Raises `DaemonSilent`."""
    runtime, metrics = await asyncio.gather(_bean(http, address, _RUNTIME), _bean(http, address, _NODE_MANAGER))
    return parse_counters(runtime, metrics)


async def file_system(http: DaemonHttp, address: str) -> FileSystemUse:
    """Return the state of HDFS, from its NameNode. Raises `DaemonSilent`."""
    return parse_file_system(await _bean(http, address, _NAME_NODE))


def parse_heap(bean: Mapping[str, Any]) -> HeapUse:
    """Return the heap in a Memory bean; a JVM without a limit counts its committed heap as the limit."""
    usage = bean["HeapMemoryUsage"]
    return HeapUse(int(usage["used"]), int(usage["max"]) if usage["max"] > 0 else int(usage["committed"]))


def parse_counters(runtime: Mapping[str, Any], metrics: Mapping[str, Any]) -> ContainerCounters:
    """Return the counters in the beans of a NodeManager."""
    return ContainerCounters(
        int(runtime["StartTime"]), int(metrics["ContainersFailed"]), int(metrics["ContainersKilled"])
    )


def parse_file_system(bean: Mapping[str, Any]) -> FileSystemUse:
    """Return the state of HDFS in a NameNode's bean."""
    return FileSystemUse(int(bean["CapacityTotal"]), int(bean["CapacityUsed"]), int(bean["NumLiveDataNodes"]))


async def _bean(http: DaemonHttp, address: str, name: str) -> Mapping[str, Any]:
    beans = (await http.get(f"{address}/jmx", qry=name)).get("beans")
    if not beans:
        raise DaemonSilent(f"{address.partition('//')[2]} is not ready: it does not tell {name.rpartition('=')[2]} yet")
    found: Mapping[str, Any] = beans[0]
    return found
