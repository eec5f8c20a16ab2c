"""Figures of Hadoop's daemons from `/jmx`: heap, state, counters; and the counters of a whole cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from svc_jupyter.files import write_whole
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


@dataclass(frozen=True, slots=True)
class ContainerTally:
    """Failed and killed containers of a whole cluster: each NodeManager counts its own, from zero at each start.

    The last known count of a NodeManager is kept when it restarts or its node is removed.
    """

    past_failed: int = 0
    past_killed: int = 0
    current: Mapping[str, ContainerCounters] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Containers that failed since the cluster started."""
        return self.past_failed + sum(counters.failed for counters in self.current.values())

    @property
    def killed(self) -> int:
        """Containers that were killed since the cluster started."""
        return self.past_killed + sum(counters.killed for counters in self.current.values())

    def seen(self, counters: Mapping[str, ContainerCounters], nodes: Collection[str]) -> Self:
        """Return the tally updated with NodeManagers' counters; `nodes` are all current nodes of the cluster."""
        latest = {**self.current, **counters}
        over = [
            before
            for node, before in self.current.items()
            if node not in nodes or latest[node].started != before.started
        ]
        return type(self)(
            self.past_failed + sum(before.failed for before in over),
            self.past_killed + sum(before.killed for before in over),
            {node: last for node, last in latest.items() if node in nodes},
        )


def read_tally(file: Path) -> ContainerTally:
    """Return the tally in a file, empty if the file is missing or damaged."""
    try:
        stored = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return ContainerTally()
    current = {node: ContainerCounters(*counters) for node, counters in stored["current"].items()}
    return ContainerTally(stored["past_failed"], stored["past_killed"], current)


def write_tally(file: Path, tally: ContainerTally) -> None:
    """Write the tally into its file atomically."""
    stored = {
        "past_failed": tally.past_failed,
        "past_killed": tally.past_killed,
        "current": {node: [last.started, last.failed, last.killed] for node, last in tally.current.items()},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, json.dumps(stored))
