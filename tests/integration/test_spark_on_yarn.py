"""Spark whose tasks run in containers of YARN: what happens when they die, when queues are full, and an S3 store."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import psutil
import pytest
from tests.support.engines import ONE_COMPILER, engine_at_once
from tests.support.file_search import files_below, files_with
from tests.support.s3_server import S3Server, s3_store
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.spark import LABEL, QUICK, SECONDS, lines, log, results, run, server_of, spark_service, submit

from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.runtimes.hadoop.addresses import Port

pytestmark = [pytest.mark.xdist_group("spark_on_yarn"), pytest.mark.timeout(900)]
CUSTOM = (
    f"spark.sql.shuffle.partitions=2\nspark.yarn.queue=root.default\n{QUICK}\n"
    f"spark.executor.extraJavaOptions={ONE_COMPILER}"
)
POOLS = """<allocations>
  <queue name="default"/>
  <queue name="narrow"><maxRunningApps>1</maxRunningApps></queue>
  <queuePlacementPolicy><rule name="specified" create="false"/><rule name="reject"/></queuePlacementPolicy>
</allocations>"""
ONE_CORE = "--conf spark.executor.cores=1 --conf spark.ui.enabled=false"
UNTIL_GO = "import os, time\nopen('begun', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.05)\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service whose Spark cluster has one worker of YARN, and a queue in which one application runs at a time."""
    data_dir = tmp_path_factory.mktemp("yarn") / "data"
    hadoop = {"fairscheduler_settings": {"fairscheduler_config_xml": POOLS, "default_pool": "default"}}
    configuration = {"hadoop_settings": hadoop, "node_configuration": {"initial_nodes": 1, "max_nodes": 1}}
    with spark_service(data_dir, custom_config=CUSTOM, configuration=configuration) as service:
        yield service


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_store() as server:
        server.put("in/numbers.csv", b"1\n2\n3\n")
        yield server


def work_of(service: ServiceProcess, command_id: int) -> Path:
    return service.folder(command_id) / "1" / "work"


def begun(service: ServiceProcess, command_id: int) -> Path:
    """Return the working folder of a program that writes a file `begun`, once it is there."""
    work = work_of(service, command_id)
    wait_until((work / "begun").exists, f"command {command_id} runs", SECONDS)
    return work


def processes_with(service: ServiceProcess, *words: str) -> list[psutil.Process]:
    """Return the processes of the service's clusters whose command lines hold all these words."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if str(service.data_dir) in line and all(word in line for word in words):
                found.append(process)
    return found


def javas_with(service: ServiceProcess, word: str) -> list[psutil.Process]:
    return [each for each in processes_with(service, word) if name_of(each) == "java"]


def name_of(process: psutil.Process) -> str | None:
    """Return the name of a process, None of one that has ended."""
    with suppress(psutil.NoSuchProcess):
        return process.name()
    return None


def maps_of(process: psutil.Process) -> set[str]:
    """Return the files that a process has in its memory, none of one that has ended."""
    with suppress(psutil.NoSuchProcess):
        return {area.path for area in process.memory_maps()}
    return set()


def applications(service: ServiceProcess) -> dict[str, str]:
    """Return the state of each application that YARN knows, by its id."""
    nodes = service.http.get(f"/clusters/{LABEL}/state").json()["nodes"]
    master = next(node["private_ip"] for node in nodes if node["role"] == "master")
    answer = httpx.get(f"http://{master}:{Port.RESOURCE_MANAGER_HTTP}/ws/v1/cluster/apps", timeout=90).json()
    return {each["id"]: each["state"] for each in answer["apps"]["app"]}


def jobs(service: ServiceProcess, command_id: int) -> list[dict[str, Any]]:
    return list(service.http.get(f"/commands/{command_id}/jobs").json()["jobs"])


def files_of(service: ServiceProcess, *commands: int) -> Iterator[Path]:
    """Yield the files that commands left, those of logs, and those of settings."""
    for one in commands:
        yield from files_below(service.folder(one))
    yield from files_below(service.data_dir, "*.conf", "*.xml", "*.json")
    yield from (file for file in files_below(service.data_dir) if "logs" in file.parts)


def test_yarn_and_its_driver_have_pages_for_a_browser(service: ServiceProcess):
    # The application's master has named its proxy to the driver before it asks for the executors of this query.
    record = run(service, sql="SELECT count(*) AS n FROM range(10)")
    job, *_ = jobs(service, record["id"])
    pages = service.http.get(f"/clusters/{LABEL}/live_cluster_health").json()["pages"]
    assert [page["name"] for page in pages] == ["YARN", "Spark"]
    for address, words in ((pages[1]["url"], "Spark Jobs"), (job["url"], f"Details for Job {job['job_id']}")):
        with httpx.Client(trust_env=False, timeout=90) as http:
            page = http.get(address)
            style = re.search(r'href="([^"]+webui\.css)"', page.text)
            assert style is not None
            assert http.get(urljoin(address, style[1])).status_code == 200
        assert words in page.text


def test_its_drivers_masters_and_executors_start_from_the_class_archive(service: ServiceProcess):
    archive = str(engine_at_once(Engine.SPARK).class_archive)
    record = submit(service, program=UNTIL_GO + "spark.range(2).count()", language="python", arguments=ONE_CORE)
    work = begun(service, record["id"])
    try:
        for name in ("proc_spark-sessions", "SparkSubmit", "ExecutorLauncher", "YarnCoarseGrainedExecutorBackend"):
            wait_until(lambda name=name: javas_with(service, name), f"a Java with {name}", SECONDS)
            wait_until(
                lambda name=name: all(archive in maps_of(java) for java in javas_with(service, name)),
                f"the class archive is used by each {name}",
            )
    finally:
        (work / "go").touch()
    assert service.ended(record["id"], SECONDS)["status"] == "done"


def test_an_executor_that_is_killed_costs_time_and_no_rows(service: ServiceProcess):
    program = (
        "import os, time\nwork = os.getcwd()\n"
        "def slow(n):\n"
        "    open(work + '/begun', 'w').close()\n"
        "    while not os.path.exists(work + '/go'): time.sleep(0.05)\n"
        "    return n\n"
        "spark.createDataFrame([(sc.parallelize(range(10), 2).map(slow).sum(),)], ['total'])"
    )
    record = submit(service, program=program, language="python")
    work = begun(service, record["id"])
    executors = javas_with(service, "YarnCoarseGrainedExecutorBackend")
    assert executors
    for executor in executors:
        with suppress(psutil.NoSuchProcess):
            executor.kill()
    (work / "go").touch()
    ended = service.ended(record["id"], SECONDS)
    assert ended["status"] == "done", ended["message"]
    assert results(service, record["id"])["total"].to_pylist() == [45]


def test_a_pool_that_is_not_there_is_reported(service: ServiceProcess):
    record = run(service, program="print(1)", language="python", pool="nowhere")
    assert record["status"] == "error"
    assert "pool nowhere has no place in the cluster's fairscheduler_config_xml" in record["message"]


def test_a_program_in_r_runs_beside_yarn(service: ServiceProcess):
    record = run(service, program="writeLines(rev(commandArgs(TRUE)))", language="R", user_program_arguments="a 'b c'")
    assert record["status"] == "done", record["message"]
    assert lines(service, record["id"]) == ["b c", "a"]
    (service.data_dir / "storage").mkdir(exist_ok=True)
    (service.data_dir / "storage" / "program.txt").write_text("stop('told by R')")
    failed = run(service, script_location="program.txt", language="R")
    assert "told by R" in failed["message"]
    assert jobs(service, record["id"]) == []


def test_a_store_that_the_account_gets_is_opened_by_the_next_program(service: ServiceProcess, s3: S3Server):
    before = submit(service, program=UNTIL_GO, language="python")["id"]
    work = begun(service, before)
    assert service.http.put("/account/storage", json=s3.record).status_code == 200
    program = (
        "rows = spark.read.schema('n INT').csv('s3://lake/in')\nrows.write.parquet('s3://lake/out/numbers')\n"
        "spark.read.parquet('s3://lake/out/numbers').selectExpr('sum(n) AS total')"
    )
    in_session = submit(service, program=program, language="python")["id"]
    wait_until(lambda: "the account's storage has changed" in log(service, in_session), "it waits", SECONDS)
    (work / "go").touch()
    assert service.ended(before, SECONDS)["status"] == "done"
    ended = service.ended(in_session, SECONDS)
    assert ended["status"] == "done", ended["message"]
    assert results(service, in_session)["total"].to_pylist() == [6]
    assert any(key.endswith(".parquet") for key in s3.keys("out/numbers"))

    shown = subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
    assert s3.secret_key not in shown + log(service, in_session)
    assert not files_with(s3.secret_key, files_of(service, in_session))


def test_a_full_queue_is_waited_for_and_a_cancellation_ends_the_application(service: ServiceProcess, s3: S3Server):
    assert service.http.put("/account/storage", json=s3.record).status_code == 200
    first = submit(service, program=UNTIL_GO, language="python", pool="narrow", arguments=ONE_CORE)["id"]
    begun(service, first)
    count = "print(spark.read.csv('s3://lake/in').count(), 'rows')"
    second = submit(service, program=count, language="python", pool="narrow", arguments=ONE_CORE)["id"]
    wait_until(lambda: "is ACCEPTED" in log(service, second), "it waits in its queue", SECONDS)
    [job] = jobs(service, first)
    assert service.http.put(f"/commands/{first}", json={"status": "kill"}).json()["kill_succeeded"]
    assert service.ended(first, SECONDS)["status"] == "cancelled"
    name = job["application_id"]
    wait_until(
        lambda: applications(service)[name] in ("KILLED", "FINISHED", "FAILED"), "its application's end", SECONDS
    )
    ended = service.ended(second, SECONDS)
    assert (ended["status"], lines(service, second)) == ("done", ["3 rows"]), ended["message"]
    assert s3.secret_key not in log(service, first) + log(service, second)
    assert not files_with(s3.secret_key, files_of(service, first, second))


def test_a_session_server_that_is_killed_leaves_no_application_behind(service: ServiceProcess):
    record = submit(service, program=UNTIL_GO, language="python")
    begun(service, record["id"])
    living = {name for name, state in applications(service).items() if state == "RUNNING"}
    server = server_of(service)
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    ended = service.ended(record["id"], SECONDS)
    assert ended["status"] == "error"
    assert "the cluster's session server ended while the program ran" in ended["message"]
    wait_until(
        lambda: not living & {name for name, state in applications(service).items() if state == "RUNNING"},
        "the driver's application ends with it",
        SECONDS,
    )
