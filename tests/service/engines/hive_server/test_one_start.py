"""A HiveServer2 that died is started once, whoever sees it first: a second one would end the connections to the first.

The machine is a double that notes what is started there; what is tested is who asks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import cast

import pytest

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.providers.provider import Daemon, DaemonState, Provider
from svc_jupyter.service.engines.engine import Engine, Installed
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.engines.hive_server.server import HiveServers
from svc_jupyter.service.engines.progress import Say
from svc_jupyter.service.engines.s3.account_store import NoStore
from svc_jupyter.service.hive.metastore_process import MetastoreAddress

ADDRESS = "127.24.1.2"


def instance(folder: Path) -> Instance:
    """A running cluster of a coordinator alone."""
    master = Node(1, NodeRole.MASTER, ADDRESS, ADDRESS, "front", "local", NodeStatus.RUNNING, 0.0, None, None, {})
    configuration = ClusterConfiguration.model_validate({})
    state = ClusterState.UP
    return Instance(7, 3, 1, state, configuration, "local", folder, {}, 0.0, None, 0.0, None, (master,))


@dataclass
class Machine:
    """Notes what is started; as on a real machine everything takes a moment, in which others come in between."""

    folder: PurePosixPath
    started: list[str] = field(default_factory=list)
    has_started: asyncio.Event = field(default_factory=asyncio.Event)

    async def daemons(self) -> Sequence[DaemonState]:
        states = [DaemonState(name, pid=number) for number, name in enumerate(self.started, start=1)]
        await asyncio.sleep(0)
        return states

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
class LocalProvider:
    """Has one machine."""

    its: Machine

    def machine(self, _instance: Instance, _node: Node) -> Machine:
        return self.its


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(PurePosixPath(tmp_path))


@pytest.fixture
def metastore() -> Metastore:
    return Metastore()


@pytest.fixture
def servers(machine: Machine, metastore: Metastore) -> HiveServers:
    providers = {"local": cast("Provider", LocalProvider(machine))}
    return HiveServers(cast("Engines", Spark()), providers, metastore, NoStore())


async def test_two_that_find_it_dead_start_one(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    dead = instance(tmp_path)
    assert dead.master is not None
    metastore.may_answer.set()
    await asyncio.gather(*(servers.restart(dead, dead.master, lambda _line: None) for _ in range(2)))
    assert machine.started == ["hiveserver2"]


async def test_the_watch_leaves_it_to_the_command_that_is_starting_it(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    dead = instance(tmp_path)
    assert dead.master is not None
    command = asyncio.create_task(servers.ensure(dead, lambda _line: None))
    await metastore.is_asked.wait()
    await servers.restart(dead, dead.master, lambda _line: None)  # it would wait for the metastore, too
    assert machine.started == []

    metastore.may_answer.set()
    await machine.has_started.wait()
    await servers.restart(dead, dead.master, lambda _line: None)
    assert machine.started == ["hiveserver2"]
    command.cancel()
    with pytest.raises(asyncio.CancelledError):
        await command
