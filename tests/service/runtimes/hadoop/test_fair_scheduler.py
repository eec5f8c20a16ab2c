"""A real ResourceManager in which heartbeats come at the moment at which Hadoop's own scheduler loses a master.

With `FairScheduler` in place of `LosslessFairScheduler` in the Java file, the job does not end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.engines import ENGINES, engine_for_tests
from tests.support.hadoop import HadoopCluster, end_clusters_of
from tests.support.hadoop_jobs import Job, finish_job, start_job

from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.runtimes.hadoop import fair_scheduler, nodes

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
async def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Instance]:
    """A cluster of one worker; the class of the test is in a folder that is on the daemons' class path."""
    classes = tmp_path / "classes"
    hadoop = await engine_for_tests(Engine.HADOOP)
    source = Path(__file__).with_name("RacedFairScheduler.java")
    await ENGINES.compile([source], hadoop.jars, classes, lambda _line: None)
    added = {f"conf/{file.relative_to(classes)}": file.read_bytes() for file in classes.rglob("*.class")}
    small = nodes.small_files()
    monkeypatch.setattr(nodes, "small_files", lambda: small | added)
    monkeypatch.setattr(fair_scheduler, "CLASS", "svc.jupyter.RacedFairScheduler")
    cluster = HadoopCluster.of(tmp_path / "data", {"node_configuration": {"initial_nodes": 1, "max_nodes": 1}})
    try:
        instance = await cluster.start()
        await cluster.engine.ensure_history_server(instance, cluster.said.append)
        yield instance
        await cluster.end()
    finally:
        end_clusters_of(tmp_path / "data")


async def test_a_master_runs_whose_container_was_there_before_its_request_had_an_answer(instance: Instance) -> None:
    options = ["-Dmapreduce.job.ubertask.enable=true", "-m", "1", "-r", "0", "-mt", "1"]
    job = await start_job(instance, Job.SLEEP, *options)
    await asyncio.to_thread(finish_job, job)
