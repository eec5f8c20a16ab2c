"""What HiveServer2's start needs, as doubles: a machine that notes what is started, and what is asked before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Daemon, DaemonState
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress

ADDRESS = "127.24.1.2"
LOST_RACE = """Exception in thread "main" java.util.ConcurrentModificationException
	at java.base/java.util.IdentityHashMap$IdentityHashMapIterator.nextIndex(IdentityHashMap.java:755)
Exception ignored in: <function JavaObject>
"""
"""What a driver of Spark's says that lost the race with YARN about the filter of its pages."""


def instance(folder: Path, provider: str = "local", custom_config: str = "") -> Instance:
    """A running cluster of a coordinator alone."""
    master = Node(1, NodeRole.MASTER, ADDRESS, ADDRESS, "front", "local", NodeStatus.RUNNING, 0.0, None, None, {})
    configuration = ClusterConfiguration.model_validate({"hadoop_settings": {"custom_config": custom_config}})
    state = ClusterState.UP
    return Instance(7, 3, 1, state, configuration, provider, folder, {}, 0.0, None, 0.0, None, (master,))


@dataclass
class Machine:
    """Notes what is started; as on a real machine everything takes a moment, in which others come in between."""

    folder: PurePosixPath
    started: list[str] = field(default_factory=list)
    last_words: str | None = None
    """What the first that is started says when it ends at once; None when it does not."""
    has_started: asyncio.Event = field(default_factory=asyncio.Event)

    async def daemons(self) -> Sequence[DaemonState]:
        running = self.started[1:] if self.last_words is not None else self.started
        states = [DaemonState(name, pid=number) for number, name in enumerate(running, start=1)]
        await asyncio.sleep(0)
        return states

    async def tail(self, _name: str) -> str:
        await asyncio.sleep(0)
        return self.last_words or ""

    async def write(self, files: Mapping[str, bytes]) -> None:
        await asyncio.sleep(0)

    async def engine(self, name: str, files: Sequence[Path]) -> Sequence[PurePosixPath]:
        await asyncio.sleep(0)
        return [PurePosixPath(file) for file in files]

    async def java(self) -> PurePosixPath:
        await asyncio.sleep(0)
        return PurePosixPath("/java/bin/java")

    async def start(self, daemon: Daemon) -> None:
        await asyncio.sleep(0)
        self.started.append(daemon.name)
        self.has_started.set()


class Metastore:
    """Answers once it is let."""

    warehouse = "file:/warehouse"

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def ensure(self, say: Say) -> MetastoreAddress:
        self.is_asked.set()
        await self.may_answer.wait()
        return MetastoreAddress("127.0.0.1", 9083)


class Spark:
    """It is installed."""

    async def ensure(self, engine: Engine, say: Say) -> Installed:
        await asyncio.sleep(0)
        return Installed(engine, "4", Path("/spark"), (Path("/spark/a.jar"),))


@dataclass
class OneMachine:
    """Has one machine."""

    its: Machine

    def machine(self, _instance: Instance, _node: Node) -> Machine:
        return self.its
