"""Pig on a running Hadoop cluster."""

from __future__ import annotations

import getpass
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pytest
from tests.support.hadoop import SharedHadoop
from tests.support.pig import FLIGHTS, SECONDS, rows_of, run_pig, submit_pig, succeeded
from tests.support.service_process import wait_until

from svc_jupyter.service.runtimes.hadoop.addresses import Addresses

pytestmark = pytest.mark.timeout(600)
SLOW = "DEFINE wait `sh -c 'cat; sleep 100'`;\n" + FLIGHTS + "b = STREAM f THROUGH wait;\n"


@pytest.fixture
def storage(hadoop) -> Path:
    return hadoop.data_dir / "storage"


@pytest.fixture
def target() -> str:
    """Return the name of a place to store in, which no other test has."""
    return f"stored-{uuid4().hex}"


def jobs_of(hadoop: SharedHadoop, command: int) -> list[dict]:
    return list(hadoop.http.get(f"/commands/{command}/jobs").json()["jobs"])


def running_job(hadoop: SharedHadoop, command: int) -> dict:
    def look() -> dict | None:
        return next((job for job in jobs_of(hadoop, command) if job["status"] == "RUNNING"), None)

    return dict(waited(hadoop, command, look, "a job", 100))


def waited(hadoop: SharedHadoop, command: int, look: Callable[[], Any], what: str, seconds: float) -> Any:
    """Return the first true value of `look`; without one the command ends, with a report of the cluster."""
    with hadoop.report_of(command):
        return wait_until(look, what, seconds)


def test_a_script_of_several_jobs_runs_on_the_cluster(hadoop, storage, target):
    script = FLIGHTS + "g = GROUP f BY carrier; s = FOREACH g GENERATE group AS carrier, COUNT(f) AS n;"
    script += f"h = GROUP s ALL; t = FOREACH h GENERATE SUM(s.n) AS n; STORE t INTO 'pig/{target}'; DUMP s;"
    record = succeeded(hadoop, script)
    command = record["id"]

    assert {"carrier": "UA", "n": 3} in rows_of(hadoop, command)
    assert (storage / "pig" / target / "part-r-00000").read_text() == "5\n"
    assert record["outputs"]["stores"][0]["rows"] == 1
    jobs = jobs_of(hadoop, command)
    assert len(jobs) == 3
    assert {job["status"] for job in jobs} == {"SUCCEEDED"}
    assert jobs[0]["url"].endswith(f"/cluster/app/{jobs[0]['application_id']}")
    assert f"svc-command-{command}-1" not in names_in_hdfs(hadoop, "/tmp/pig")  # other tests have theirs there


def test_the_error_of_a_function_on_a_node_is_reported(hadoop):
    script = "REGISTER 'pig/udfs.py' USING streaming_python AS u;\n" + FLIGHTS
    record = run_pig(hadoop, script + "a = FOREACH f GENERATE u.failing(carrier); DUMP a;")

    assert record["status"] == "error"
    assert record["message"].splitlines()[0] == "ValueError: cannot take UA"


def test_a_cancellation_ends_the_job_and_removes_what_it_wrote(hadoop, storage, target):
    command = submit_pig(hadoop, SLOW + f"STORE b INTO 'pig/{target}';")
    running_job(hadoop, command)

    hadoop.http.put(f"/commands/{command}", json={"status": "kill"})

    assert hadoop.ended(command)["status"] == "cancelled"
    wait_until(lambda: {job["status"] for job in jobs_of(hadoop, command)} == {"KILLED"}, "the job's end")
    assert not (storage / "pig" / target).exists()


def test_a_master_that_dies_between_two_commits_stores_each_row_once(hadoop, storage, target, tmp_path):
    gate, program, source = tmp_path / "gate", tmp_path / "wait.sh", f"two-{target}"
    folder = storage / "pig" / source
    program.write_text(
        f"rows=$(cat)\ncase $rows in *wait*) until [ -e {gate} ]; do sleep 0.1; done;; esac\necho $rows\n"
    )
    folder.mkdir()
    (folder / "first").write_text("committed" * 100 + "\n")  # the larger one is read first
    (folder / "then").write_text("wait\n")
    script = f"SET pig.noSplitCombination true; DEFINE wait `sh {program}`; f = LOAD 'pig/{source}' AS (k:chararray);"
    command = submit_pig(hadoop, script + f"b = STREAM f THROUGH wait AS (k:chararray); STORE b INTO 'pig/{target}';")
    waited(hadoop, command, lambda: committed(storage / "pig" / target), "the commit of the first task", 200)

    job = running_job(hadoop, command)
    (master,) = masters_of(job["application_id"])
    master.kill()
    gate.touch()
    record = hadoop.ended(command, SECONDS)

    assert record["status"] == "done", record["message"]
    rows = "".join(file.read_text() for file in committed(storage / "pig" / target))
    assert sorted(rows.split()) == ["committed" * 100, "wait"]
    resource_manager = job["url"].partition("/cluster/app/")[0]
    told = httpx.get(f"{resource_manager}/ws/v1/cluster/apps/{job['application_id']}/appattempts", timeout=90).json()
    assert len(told["appAttempts"]["appAttempt"]) == 2


def test_a_script_that_waits_for_yarn_says_so_with_yarns_reason(hadoop, target):
    # Masters get at most half of a pool. The master of the second job is as large as a node, so the first one fills it.
    large = f"SET yarn.app.mapreduce.am.resource.mb '{megabytes_of_a_node(hadoop)}';\n"
    commands = [submit_pig(hadoop, SLOW + f"STORE b INTO 'pig/{target}';", pool=target)]
    try:
        running_job(hadoop, commands[0])
        commands.append(submit_pig(hadoop, large + FLIGHTS + "DUMP f;", pool=target))
        words = waited(hadoop, commands[1], lambda: waits_in(hadoop.logs(commands[1])), "the words", 100)
        (job,) = jobs_of(hadoop, commands[1])
    finally:
        for command in commands:
            hadoop.http.put(f"/commands/{command}", json={"status": "kill"})

    assert job["status"] == "ACCEPTED"
    assert re.fullmatch(
        r"waiting for YARN: 1 job before it\. "
        r"Resource request \([\d,]+ MB, 1 vCore\) exceeds maximum AM resource allowed",
        words[0],
    )
    assert [hadoop.ended(command)["status"] for command in commands] == ["cancelled", "cancelled"]


def waits_in(log: str) -> list[str]:
    return [line for line in log.splitlines() if line.startswith("waiting for YARN")]


def megabytes_of_a_node(hadoop: SharedHadoop) -> int:
    """Return the memory that YARN has on each node of the cluster."""
    figures = httpx.get(
        f"{addresses_of(hadoop).resource_manager_http}/ws/v1/cluster/metrics",
        trust_env=False,
        timeout=10,
    ).json()["clusterMetrics"]
    return int(figures["totalMB"]) // int(figures["activeNodes"])


def committed(output: Path) -> list[Path]:
    """Return the files of tasks that have been committed."""
    return [file for file in output.rglob("part-*") if not any("attempt_" in part for part in file.parts)]


def masters_of(application: str) -> list[psutil.Process]:
    """Return the running masters of an application."""
    found = psutil.process_iter(["cmdline"])
    words = "org.apache.hadoop.mapreduce.v2.app.MRAppMaster"
    return [one for one in found if words in (line := one.info["cmdline"] or []) and application in " ".join(line)]


def test_a_java_that_is_killed_takes_its_job_with_it(hadoop, target):
    command = submit_pig(hadoop, SLOW + f"STORE b INTO 'hdfs:///data/{target}';")
    running_job(hadoop, command)

    os.kill(int((hadoop.folder(command) / "1" / "pid").read_text().split()[0]), signal.SIGKILL)
    record = hadoop.ended(command)

    assert "the Java that ran the script was killed" in record["message"]
    assert {job["status"] for job in jobs_of(hadoop, command)} == {"KILLED"}
    assert target not in names_in_hdfs(hadoop, "/data")


def names_in_hdfs(hadoop: SharedHadoop, path: str) -> list[str]:
    """Return the names in a folder of the cluster's HDFS; none when it is not there."""
    place = f"{addresses_of(hadoop).name_node_http}/webhdfs/v1{path}"
    query = {"op": "LISTSTATUS", "user.name": getpass.getuser()}
    answer = httpx.get(place, params=query, trust_env=False, timeout=10)
    if answer.status_code == 404:
        return []
    assert answer.status_code == 200, answer.text
    return [entry["pathSuffix"] for entry in answer.json()["FileStatuses"]["FileStatus"]]


def addresses_of(hadoop: SharedHadoop) -> Addresses:
    """Return the addresses of the cluster's daemons."""
    (master,) = (
        node for node in hadoop.http.get("/clusters/default/state").json()["nodes"] if node["role"] == "master"
    )
    return Addresses(master["private_ip"])
