"""A real Hadoop cluster on hosts that are reached by SSH."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.service.clusters.providers.hosts_world import HostsWorld
from tests.support.engines import ENGINES, engine_at_once
from tests.support.hadoop import NoHealth, no_bootstrap
from tests.support.ssh_host import SshHosts, ssh_hosts

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonHttp
from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import HadoopEngine
from svc_jupyter.service.runtimes.hadoop.nodes import HadoopNodes
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnRest

pytestmark = pytest.mark.timeout(600)


NAMES = {"front": "front.cluster.test", "one": "one.cluster.test", "two": "not-as-in-the-inventory.cluster.test"}


@pytest.fixture(params=[None, NAMES], ids=["addresses", "names"])
def hosts(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[SshHosts]:
    """Hosts that find no names for their addresses, and hosts that do."""
    engine_at_once(Engine.HADOOP)
    with ssh_hosts(tmp_path / "remote", "front", "one", "two", resolved=request.param) as hosts:
        hosts.write_inventory(front={"roles": ["master"]})
        yield hosts


@pytest.fixture
async def world(tmp_path: Path, hosts: SshHosts) -> AsyncIterator[HostsWorld]:
    world = HostsWorld.of(tmp_path / "data", hosts.inventory)
    yield world
    await world.close()


@pytest.fixture
async def engine(world: HostsWorld) -> AsyncIterator[HadoopEngine]:
    providers, http = {"hosts": world.provider}, DaemonHttp()
    nodes = HadoopNodes(ENGINES, providers, no_bootstrap)
    yield HadoopEngine(world.instances, providers, nodes, YarnRest(http), NoHealth())
    await http.close()


async def _until(condition: Callable[[], Awaitable[bool]], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)


async def test_a_cluster_starts_grows_loses_a_host_has_it_back_shrinks_and_is_gone(
    world: HostsWorld, hosts: SshHosts, engine: HadoopEngine
):
    said: list[str] = []
    began = await world.started(initial_nodes=1, max_nodes=2)
    await engine.start(began, said.append)
    await engine.add_nodes(await world.instances.get(began.id), 1, said.append, command_id=5)
    instance = await world.instances.get(began.id)
    assert [node.private_dns for node in instance.nodes] == ["front", "one", "two"]
    assert {node.status for node in instance.nodes} == {NodeStatus.RUNNING}

    async def looked_at() -> Instance:
        await engine.supervise(await world.instances.get(began.id))
        return await world.instances.get(began.id)

    daemons = await world.machine(instance, instance.workers[1]).daemons()
    hosts["two"].down()
    statuses = {node.private_dns: node.status for node in (await looked_at()).nodes}
    assert statuses == {"front": NodeStatus.RUNNING, "one": NodeStatus.RUNNING, "two": NodeStatus.LOST}
    hosts["two"].up()

    async def is_whole() -> bool:
        return {node.status for node in (await looked_at()).nodes} == {NodeStatus.RUNNING}

    await _until(is_whole)
    assert await world.machine(instance, instance.workers[1]).daemons() == daemons  # it never stopped there

    await engine.remove_node(instance, instance.workers[0], said.append)
    instance = await world.instances.get(began.id)
    assert [node.private_dns for node in instance.workers] == ["two"]
    assert not hosts["one"].processes()

    await engine.terminate(instance, said.append)
    for host in hosts.hosts.values():
        assert not host.processes()
        assert sorted(entry.name for entry in host.folder.iterdir()) == ["engines", "nodes"]
        assert not list((host.folder / "nodes").iterdir())
