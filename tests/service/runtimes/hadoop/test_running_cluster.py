"""A real job on the session's cluster: where its programs listen, which files it reaches, in which pool it runs."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest
from tests.support.hadoop import HadoopCluster, SharedHadoop
from tests.support.hadoop_jobs import Job, finish_job, start_job

from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.clusters.providers.marked_processes import marked
from svc_jupyter.service.clusters.providers.provider import INSTANCE_MARK
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.health import HadoopHealth

pytestmark = pytest.mark.timeout(600)
WORDS = "to be or not to be that is the question\n" * 50


@pytest.fixture
async def cluster(hadoop: SharedHadoop) -> AsyncIterator[HadoopCluster]:
    found = hadoop.cluster()
    yield found
    await found.close()


def listening_of(instance: Instance) -> set[tuple[str, str]]:
    """Return program and address of every listening socket of a cluster's processes."""
    found = set()
    for process in marked(INSTANCE_MARK, instance.folder):
        try:
            name = process.cmdline()[-1].rpartition(".")[2]
            sockets = process.net_connections("tcp")
        except (psutil.Error, IndexError):
            continue
        found |= {(name, socket.laddr.ip) for socket in sockets if socket.status == psutil.CONN_LISTEN}
    return found


def watched(job: subprocess.Popen[str], instance: Instance) -> set[tuple[str, str]]:
    """Return all that listened at some time while a job ran."""
    seen = set()
    while job.poll() is None:
        seen |= listening_of(instance)
        time.sleep(0.5)
    return seen


async def test_a_job_reads_files_of_the_machine_writes_hdfs_and_listens_nowhere_else(
    cluster: HadoopCluster, tmp_path: Path
):
    instance = await cluster.instance()
    addresses = Addresses.of(instance)
    await cluster.engine.ensure_history_server(instance, cluster.said.append)
    (tmp_path / "words.txt").write_text(WORDS)
    target = f"/counts-{tmp_path.parent.name}"
    # All in the job's master, which is what listens; containers of their own are in test_supervision.py.
    options = ["-Dmapreduce.job.queuename=root.etl", "-Dmapreduce.job.ubertask.enable=true"]
    job = await start_job(instance, Job.EXAMPLE, "wordcount", *options, f"file://{tmp_path}/words.txt", target)
    seen = await asyncio.to_thread(watched, job, instance)
    output = finish_job(job)

    async with httpx.AsyncClient(trust_env=False, follow_redirects=True, timeout=90) as http:
        web = f"{addresses.name_node_http}/webhdfs/v1{target}/part-r-00000"
        text = (await http.get(web, params={"op": "OPEN"})).text
        application = re.search(r"job_(\d+_\d+)", output)
        assert application
        apps = f"{addresses.resource_manager_http}/ws/v1/cluster/apps"
        told = (await http.get(f"{apps}/application_{application[1]}")).json()
    assert {word: int(count) for word, count in map(str.split, text.splitlines())} == Counter(WORDS.split())

    assert told["app"]["queue"] == "root.etl"

    own = {node.private_ip for node in instance.nodes}
    assert {"MRAppMaster", "NameNode", "ResourceManager", "NodeManager", "JobHistoryServer"} <= {
        name for name, _ in seen
    }
    # The DataNode's web server has a second, inner one, always at 127.0.0.1.
    assert {(name, ip) for name, ip in seen if ip not in own} <= {("DataNode", "127.0.0.1")}


async def test_yarn_has_a_page_for_a_browser(cluster: HadoopCluster):
    sample = await HadoopHealth({"local": cluster.provider}, cluster.http).sample(await cluster.instance())
    async with httpx.AsyncClient(trust_env=False, timeout=90) as http:
        page = await http.get(sample.pages["YARN"])
    assert list(sample.pages) == ["YARN"]
    assert "All Applications" in page.text


async def test_programs_cannot_be_run_by_an_http_call(cluster: HadoopCluster):
    base = f"{Addresses.of(await cluster.instance()).resource_manager_http}/ws/v1/cluster/apps"
    async with httpx.AsyncClient(trust_env=False, params={"user.name": "root"}, timeout=90) as http:
        asked = await http.post(f"{base}/new-application")
        submitted = await http.post(base, json={"application-id": "application_1_0001"})
    assert (asked.status_code, submitted.status_code) == (403, 403)
