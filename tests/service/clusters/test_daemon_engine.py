"""The loop of clusters, on an engine that is a few functions and real daemons; and its rules."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.service.clusters.standalone_spark import StandaloneSpark
from tests.support.engines import ENGINES
from tests.support.hadoop import ClusterRows, end_clusters_of

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.daemon_engine import removal_order
from svc_jupyter.service.clusters.instances import Node, claim
from svc_jupyter.service.clusters.providers.marked_processes import marked
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.clusters.supervision import status_of


class SmallCluster:
    """A cluster of the small engine, over a database of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.rows = ClusterRows.of(data_dir)
        self.engine = StandaloneSpark(self.rows.instances, {"local": self.rows.provider}, ENGINES)
        self.said: list[str] = []

    async def statuses(self) -> list[NodeStatus]:
        return [node.status for node in (await self.rows.instance()).nodes]

    async def pid(self, node: Node) -> int | None:
        (state,) = await self.engine.machine(await self.rows.instance(), node).daemons()
        return state.pid

    async def supervised_until(self, statuses: list[NodeStatus]) -> None:
        async with asyncio.timeout(120):
            while await self.statuses() != statuses:
                await self.engine.supervise(await self.rows.instance())
                await asyncio.sleep(0.2)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[SmallCluster]:
    found = SmallCluster(tmp_path / "data")
    try:
        yield found
    finally:
        await found.engine.close()
        found.rows.database.close()
        end_clusters_of(tmp_path / "data")


@pytest.mark.timeout(600)
async def test_a_small_engine_has_all_that_clusters_have(cluster: SmallCluster):
    engine, rows, say = cluster.engine, cluster.rows, cluster.said.append
    await engine.start(await rows.instance(), say)
    assert await cluster.statuses() == [NodeStatus.RUNNING] * 3
    assert not await engine.is_busy(await rows.instance())

    first = (await rows.instance()).workers[0]
    killed = await cluster.pid(first)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await cluster.supervised_until([NodeStatus.RUNNING, NodeStatus.LOST, NodeStatus.RUNNING])
    await cluster.supervised_until([NodeStatus.RUNNING] * 3)
    assert await cluster.pid(first) not in (None, killed)

    await engine.add_nodes(await rows.instance(), 1, say, command_id=7)
    assert await cluster.statuses() == [NodeStatus.RUNNING] * 4
    best, *_ = await engine.removal_order(await rows.instance())
    youngest = (await rows.instance()).workers[-1]
    assert best.id == youngest.id
    assert await rows.database.write(lambda connection: claim(connection, best.id, 8))
    await engine.remove_node(await rows.instance(), best, say)
    assert best.id not in [node.id for node in (await rows.instance()).nodes]
    await engine.remove_node(await rows.instance(), best, say)  # it was gone before
    assert await cluster.statuses() == [NodeStatus.RUNNING] * 3

    instance = await rows.instance()
    assert len(list(marked(INSTANCE_MARK, instance.folder))) == 3
    await engine.terminate(instance, say)
    assert not list(marked(INSTANCE_MARK, instance.folder))
    text = "\n".join(cluster.said)
    for line in ("starting its worker", "registered with the master, RUNNING", "gone, its machine is given back"):
        assert f"{best.private_dns}: {line}" in text


@pytest.mark.timeout(600)
async def test_an_addition_that_cannot_succeed_leaves_no_node(cluster: SmallCluster):
    engine, rows, say = cluster.engine, cluster.rows, cluster.said.append
    await engine.start(await rows.instance(), say)
    master = (await rows.instance()).master
    assert master is not None

    async def fail(*_arguments: object) -> None:
        raise OSError("no room for another worker")

    engine.bring_up = fail  # type: ignore[method-assign]
    with pytest.raises(OSError, match="no room for another worker"):
        await engine.add_nodes(await rows.instance(), 2, say, command_id=7)
    assert await cluster.statuses() == [NodeStatus.RUNNING] * 3
    await engine.terminate(await rows.instance(), say)


def node(number: int, status: NodeStatus = NodeStatus.RUNNING, role: NodeRole = NodeRole.WORKER) -> Node:
    address = f"127.1.1.{number}"
    return Node(number, role, f"h{number}", address, f"h{number}", "local", status, 0.0, None, None, {})


def test_lost_workers_go_first_then_the_idlest_then_the_youngest():
    workers = [node(1), node(2), node(3), node(4, NodeStatus.LOST), node(5), node(6, NodeStatus.STARTING)]
    assert [found.id for found in removal_order(workers, [0, 2, 0, None, None, 0])] == [5, 4, 3, 1, 2]


def test_a_node_runs_when_its_daemons_do_and_the_coordinator_knows_it():
    statuses = [
        (NodeRole.WORKER, {"127.1.1.1"}, True, NodeStatus.RUNNING),
        (NodeRole.WORKER, set(), True, NodeStatus.LOST),
        (NodeRole.WORKER, {"127.1.1.1"}, False, NodeStatus.LOST),
        (NodeRole.WORKER, None, True, NodeStatus.DECOMMISSIONING),
        (NodeRole.MASTER, None, True, NodeStatus.LOST),
        (NodeRole.MASTER, {"127.1.1.1"}, False, NodeStatus.LOST),
        (NodeRole.MASTER, {"127.1.1.1"}, True, NodeStatus.RUNNING),
    ]

    def status(role: NodeRole, registered: set[str] | None, *, daemons_run: bool) -> NodeStatus:
        return status_of(node(1, NodeStatus.DECOMMISSIONING, role), registered, daemons_run=daemons_run)

    found = [(role, known, runs, status(role, known, daemons_run=runs)) for role, known, runs, _ in statuses]
    assert found == statuses
