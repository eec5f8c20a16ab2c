"""Nodes that come and go under a real MapReduce job, on a cluster of the test's own."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress

import pytest
from tests.support.hadoop import HadoopCluster
from tests.support.mapreduce import EndedJob, SleepJob, sleep_job_jar
from tests.support.until import until

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Node, claim
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.nodes import client_folder
from svc_jupyter.service.runtimes.hadoop.yarn_admin import AdminCallFailed, call, refresh_nodes
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnNode, YarnRest

pytestmark = pytest.mark.timeout(600)
MAP_SECONDS = 8.0
MAP_MB = 512


@pytest.fixture
async def cluster(tmp_path) -> AsyncIterator[HadoopCluster]:
    cluster = HadoopCluster.of(tmp_path / "data")
    try:
        await cluster.start()
        yield cluster
    finally:
        await cluster.end()


async def test_a_job_ends_right_while_every_node_it_began_on_is_exchanged(cluster, tmp_path):
    instance, said = await cluster.instance(), cluster.said
    await _the_administrators_calls_are_answered(instance)
    jar = await sleep_job_jar(tmp_path)
    job = asyncio.create_task(SleepJob(jar, client_folder(instance), tmp_path / "job", [MAP_SECONDS] * 6).run())
    # Its application master and its first maps run on the two nodes that will go.
    await _until_nodes(cluster, _are_all_at_work, job)
    await _until_containers_run_on_each_node(cluster, job)
    await _until_nothing_is_allocated(cluster, job)

    first, second = instance.workers
    await _cancelled_removal(cluster, instance, first)
    await cluster.engine.add_nodes(instance, 2, cluster.said.append, command_id=1)
    await _until_nothing_is_allocated(cluster, job)
    removals = [asyncio.create_task(_removed(cluster, instance, node)) for node in (first, second)]
    # With the outputs of its maps still needed, the daemon of the node without the application master dies.
    await until(lambda: _node_without_containers(said, (first, second)) is not None, 120)
    killed = _node_without_containers(said, (first, second))
    assert killed is not None
    await _kill_node_manager(cluster, instance, killed)

    ended: EndedJob = await job
    await asyncio.gather(*removals)
    assert ended.exit_code == 0, ended.text
    assert [line.split()[0] for line in ended.lines] == [f"{number:03}" for number in range(6)]
    launched = {name: ended.counter(f"{name} map tasks") for name in ("Launched", "Failed", "Killed")}
    assert launched == {"Launched": 6, "Failed": 0, "Killed": 0}, ended.text
    assert all(line.endswith("_0") for line in ended.lines)
    assert await _attempts(cluster, instance) == [1]

    after = await cluster.instance()
    assert len(after.workers) == 2
    assert {first.id, second.id}.isdisjoint(node.id for node in after.workers)
    assert all(node.status is NodeStatus.RUNNING for node in after.workers)
    text = "\n".join(said)
    assert f"{first.private_dns}: put back, RUNNING" in text
    assert "left: application_" in text
    assert f"{killed.private_dns}: its NodeManager ended before the node was let go; starting it again" in text
    assert f"{killed.private_dns}: gone, its machine is given back" in text


def _are_all_at_work(known: Mapping[str, YarnNode]) -> bool:
    containers = [node.containers for node in known.values()]
    return min(containers) >= 1 and sum(containers) >= 3


def _node_without_containers(said: Sequence[str], nodes: Sequence[Node]) -> Node | None:
    """Return the node that is said to be held by the outputs of its maps alone."""
    lines = "\n".join(said)
    held = [node for node in nodes if f"{node.private_dns}: decommissioning, no container left" in lines]
    return held[0] if held else None


async def _the_administrators_calls_are_answered(instance: Instance) -> None:
    """The real ResourceManager takes our calls, and refuses in its own words."""
    address = Addresses.of(instance).resource_manager_admin
    await refresh_nodes(address, 10)
    with pytest.raises(AdminCallFailed, match="refused nonsense: Unknown method nonsense"):
        await call(address, "nonsense", b"")


async def _cancelled_removal(cluster: HadoopCluster, instance: Instance, node: Node) -> None:
    removal = asyncio.create_task(_removed(cluster, instance, node))
    await _until_nodes(cluster, lambda known: known[node.private_ip].state == "DECOMMISSIONING", removal)
    removal.cancel()
    with suppress(asyncio.CancelledError):
        await removal
    await cluster.engine.put_back(instance, node, cluster.said.append)
    (found,) = [other for other in (await cluster.instance()).workers if other.id == node.id]
    assert found.status is NodeStatus.RUNNING
    assert found.leaving is None


async def _removed(cluster: HadoopCluster, instance: Instance, node: Node) -> None:
    assert await cluster.database.write(lambda connection: claim(connection, node.id, 100 + node.id))
    await cluster.engine.remove_node(instance, node, cluster.said.append)


async def _kill_node_manager(cluster: HadoopCluster, instance: Instance, node: Node) -> None:
    (daemon,) = await cluster.provider.machine(instance, node).daemons()
    assert daemon.pid is not None
    os.kill(daemon.pid, signal.SIGKILL)


async def _until_nodes(cluster: HadoopCluster, condition, working: asyncio.Task) -> dict[str, YarnNode]:
    """Wait for a condition of YARN's nodes, as long as the work that is to bring it about goes on."""
    yarn, address = YarnRest(cluster.http), Addresses.of(await cluster.instance()).resource_manager_http
    async with asyncio.timeout(150):
        while True:
            known = dict(await yarn.nodes(address))
            if condition(known):
                return known
            assert not working.done(), working.result()
            await asyncio.sleep(0.05)


async def _until_containers_run_on_each_node(cluster: HadoopCluster, working: asyncio.Task) -> None:
    """Wait until each node has reported the memory that its containers use.

    YARN counts a container from when it is given away, but does not wait for a node that leaves before a heartbeat has
    reported that a container began there.
    """
    address = Addresses.of(await cluster.instance()).resource_manager_http
    async with asyncio.timeout(150):
        while True:
            answer = await cluster.http.get(f"{address}/ws/v1/cluster/nodes")
            used = [node.get("resourceUtilization", {}) for node in answer["nodes"]["node"]]
            if all(one.get("aggregatedContainersPhysicalMemoryMB") for one in used):
                return
            assert not working.done(), working.result()
            await asyncio.sleep(0.05)


async def _until_nothing_is_allocated(cluster: HadoopCluster, working: asyncio.Task) -> None:
    """Wait until the job has all it asked for, or as much as there is room for.

    YARN sets the resources of a node that begins to leave to what it has given away there, and ends what it gives away
    at the same moment: such a map begins again elsewhere.
    """
    address = Addresses.of(await cluster.instance()).resource_manager_http
    async with asyncio.timeout(150):
        while True:
            answer = await cluster.http.get(f"{address}/ws/v1/cluster/metrics")
            now = answer["clusterMetrics"]
            if not now["containersPending"] or not now["availableVirtualCores"] or now["availableMB"] < MAP_MB:
                return
            assert not working.done(), working.result()
            await asyncio.sleep(0.05)


async def _attempts(cluster: HadoopCluster, instance: Instance) -> list[int]:
    """Return how often each application was begun."""
    address = Addresses.of(instance).resource_manager_http
    applications = await YarnRest(cluster.http).applications(address, ["FINISHED", "RUNNING", "FAILED", "KILLED"])
    found = []
    for application in applications:
        answer = await cluster.http.get(f"{address}/ws/v1/cluster/apps/{application.id}/appattempts")
        found.append(len(answer["appAttempts"]["appAttempt"]))
    return found
