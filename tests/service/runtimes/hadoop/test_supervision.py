"""A cluster that is killed again and again: the service in the middle of its start, then each of its daemons."""

from __future__ import annotations

import asyncio
import getpass
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from tests.support.hadoop import HadoopCluster, daemon_processes, end_clusters_of
from tests.support.hadoop_jobs import Job, finish_job, start_job
from tests.support.service_process import wait_until

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters import supervision
from svc_jupyter.service.clusters.providers.marked_processes import marked
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnApplication
from svc_jupyter.service.schema.clusters import cluster_instances

pytestmark = pytest.mark.timeout(600)

START = """
import asyncio, sys
from pathlib import Path
from tests.support.hadoop import HadoopCluster
asyncio.run(HadoopCluster.of(Path(sys.argv[1])).start())
"""


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster whose first start was killed as soon as two daemons ran; the second one goes on with what is there."""
    folder = tmp_path_factory.mktemp("killed") / "data"
    service = subprocess.Popen([sys.executable, "-c", START, str(folder)], cwd=Path(__file__).parents[4])
    try:
        try:
            wait_until(lambda: len(list(folder.glob("clusters/*/*/nodes/*/daemons/*/pid"))) >= 2, "two daemons", 240)
        finally:
            service.kill()
            service.wait()
        began = {file: file.read_text() for file in folder.glob("clusters/*/*/nodes/*/daemons/*/pid")}
        asyncio.run(_start_again(folder))
        assert {file: file.read_text() for file in began} == began, "what ran was started a second time"
        yield folder
        asyncio.run(_end(folder))
        assert not list(folder.glob("clusters/*/*/nodes"))
    finally:
        end_clusters_of(folder)


async def _start_again(folder: Path) -> None:
    cluster = HadoopCluster.of(folder)
    instance = await cluster.start()
    assert [node.status for node in instance.nodes] == [NodeStatus.RUNNING] * 3
    assert len(daemon_processes(folder)) == 5
    await cluster.close()


async def _end(folder: Path) -> None:
    cluster = HadoopCluster.of(folder)
    instance = await cluster.instance()
    await cluster.end()
    assert not list(marked(INSTANCE_MARK, instance.folder))


@pytest.fixture
async def cluster(data_dir: Path) -> AsyncIterator[HadoopCluster]:
    """The cluster, looked after as the driver does."""
    found = HadoopCluster.of(data_dir)
    async with looked_after(found):
        yield found
    await found.close()


@asynccontextmanager
async def looked_after(cluster: HadoopCluster) -> AsyncIterator[None]:
    async def look() -> None:
        while True:
            await cluster.engine.supervise(await cluster.instance())
            await asyncio.sleep(0.5)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looking


async def kill(cluster: HadoopCluster, *names: str) -> list[int]:
    """Kill daemons on all nodes; return their numbers."""
    instance = await cluster.instance()
    killed = []
    for node in instance.nodes:
        for state in await cluster.nodes.machine(instance, node).daemons():
            if state.name in names:
                assert state.pid is not None
                os.kill(state.pid, signal.SIGKILL)
                killed.append(state.pid)
    return killed


async def all_running_again(cluster: HadoopCluster, killed: list[int]) -> None:
    """Wait until new processes run in place of the killed ones, and all nodes are RUNNING."""
    async with asyncio.timeout(120):
        while True:
            instance = await cluster.instance()
            states = [
                state for node in instance.nodes for state in await cluster.nodes.machine(instance, node).daemons()
            ]
            if (
                all(state.is_running and state.pid not in killed for state in states)
                and [node.status for node in instance.nodes] == [NodeStatus.RUNNING] * 3
            ):
                return
            await asyncio.sleep(0.2)


async def test_files_survive_the_daemons_of_hdfs(cluster: HadoopCluster):
    web = f"{Addresses.of(await cluster.instance()).name_node_http}/webhdfs/v1/kept"
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True, timeout=10) as http:
        asked = await http.put(web, params={"op": "CREATE", "noredirect": "true", "user.name": getpass.getuser()})
        created = await http.put(asked.json()["Location"], content=b"kept")
        assert created.status_code == 201
        await all_running_again(cluster, await kill(cluster, "namenode", "datanode"))
        async with asyncio.timeout(60):
            while True:
                try:
                    answer = await http.get(web, params={"op": "OPEN"})
                    if answer.status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                await asyncio.sleep(0.2)
    assert answer.content == b"kept"


async def test_a_running_job_survives_the_daemons_of_yarn(cluster: HadoopCluster):
    instance = await cluster.instance()
    await cluster.engine.ensure_history_server(instance, cluster.said.append)
    job = await start_job(instance, Job.SLEEP, "-m", "1", "-r", "0", "-mt", "10000")
    resource_manager = Addresses.of(instance).resource_manager_http
    async with asyncio.timeout(90):
        running: Sequence[YarnApplication] = ()
        while not running:
            await asyncio.sleep(0.2)
            running = await cluster.yarn.applications(resource_manager, ["RUNNING"])
    killed = await kill(cluster, "resourcemanager", "nodemanager", "historyserver")
    assert len(killed) == 4
    await all_running_again(cluster, killed)
    await asyncio.to_thread(finish_job, job, 120)
    attempts = await cluster.http.get(f"{resource_manager}/ws/v1/cluster/apps/{running[0].id}/appattempts")
    assert len(attempts["appAttempts"]["appAttempt"]) == 1
    assert not await cluster.engine.is_busy(instance)


async def test_a_daemon_that_dies_again_and_again_is_reported(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    # Five starts of a Java may take longer than two minutes on a busy machine; test_deaths.py has the two minutes.
    monkeypatch.setattr(supervision, "WINDOW_SECONDS", 3600)
    cluster = HadoopCluster.of(data_dir)
    instance = await cluster.instance()
    worker = instance.workers[0]
    machine = cluster.nodes.machine(instance, worker)
    settings = Path(machine.folder) / "conf" / "yarn-site.xml"
    whole = settings.read_bytes()
    try:
        settings.write_bytes(b"<configuration><broken")
        await kill(cluster, "nodemanager")
        async with asyncio.timeout(450):
            while "died 5 times" not in (await message(cluster)):
                await cluster.engine.supervise(await cluster.instance())
                await asyncio.sleep(0.2)
        assert worker.private_dns in await message(cluster)
        assert (await cluster.instance()).workers[0].status is NodeStatus.LOST
    finally:
        settings.write_bytes(whole)
        await cluster.close()


async def message(cluster: HadoopCluster) -> str:
    """Return what the instance's row says to those who look at it."""
    query = sa.select(cluster_instances.c.message)
    return str(await cluster.database.read(lambda connection: connection.execute(query).scalar_one()))
