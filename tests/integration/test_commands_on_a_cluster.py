"""Commands on a real cluster of their own: a service that is killed meanwhile, and a storage that changes.

Its HiveServer2 runs its tasks on YARN, as a cluster's settings may say.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import end_commands_of
from tests.integration.kernel_session import KernelSession
from tests.support.engines import engine_at_once
from tests.support.file_search import files_below, files_with
from tests.support.hadoop import HadoopService, end_clusters_of, start_cluster, use_hadoop
from tests.support.hive import end_metastore_of
from tests.support.pig import DATA, FLIGHTS, rows_of, succeeded
from tests.support.s3_server import S3Server, s3_store
from tests.support.service_process import wait_until

from svc_jupyter.service.installs.engine import Engine

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("cluster-of-its-own")]
_SECONDS = 450.0
_HIVE_ON_YARN = "spark.master=yarn\nspark.executor.cores=1\nspark.dynamicAllocation.maxExecutors=1"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_store() as server:
        for name, text in DATA.items():
            server.put(name, text.encode())
        yield server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HadoopService]:
    """A service whose cluster is UP; its storage is still a folder."""
    for engine in (Engine.HADOOP, Engine.PIG, Engine.HIVE_METASTORE, Engine.SPARK):
        engine_at_once(engine)
    service = HadoopService(tmp_path_factory.mktemp("s3") / "data", kill_grace_seconds=1).start()
    try:
        use_hadoop(service, custom_config=_HIVE_ON_YARN)
        start_cluster(service)
        yield service
    finally:
        service.kill()
        end_commands_of(service.data_dir)
        end_clusters_of(service.data_dir)
        end_metastore_of(service.data_dir)


def submit(service: HadoopService, command_type: str, **fields: Any) -> int:
    response = service.http.post("/commands", json={"command_type": command_type, **fields})
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def hive(service: HadoopService, query: str) -> int:
    """Run statements that must succeed; return the command's id."""
    command = submit(service, "HiveCommand", query=query)
    record = service.ended(command, _SECONDS)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(command)}"
    return command


def waiting_for(gate: Path, name: str) -> Path:
    """Return a shell script that tells that it has begun, and passes on what it reads once the gate is there."""
    script = gate.with_name(f"{name}.sh")
    script.write_text(f"touch {gate}.{name}\nuntil [ -e {gate} ]; do sleep 0.1; done\ncat\n")
    return script


def test_hive_and_hadoop_go_on_without_the_service_and_are_found_by_the_next_one(
    service: HadoopService, tmp_path: Path
) -> None:
    gate, words = tmp_path / "gate", service.data_dir / "storage" / tmp_path.name
    words.mkdir(parents=True)
    (words / "line").write_text("a\n")
    query = f"SELECT TRANSFORM(id) USING 'sh {waiting_for(gate, 'hive')}' AS (x int) FROM range(7, 8)"
    statement = submit(service, "HiveCommand", query=query)
    with service.report_of(statement):
        wait_until(Path(f"{gate}.hive").exists, "the statement's task", _SECONDS)
    mapper = f"sh {waiting_for(gate, 'hadoop')}"
    one_task = "-D mapreduce.job.maps=1 -D mapreduce.job.reduces=0"  # so that both have room on two small nodes
    arguments = f"{one_task} -input {words.as_uri()} -output /{tmp_path.name} -mapper '{mapper}'"
    job = submit(service, "HadoopCommand", sub_command="streaming", sub_command_args=arguments, pool="night")
    with service.report_of(statement, job):
        wait_until(Path(f"{gate}.hadoop").exists, "the job's task", _SECONDS)

    service.kill()
    service.start()
    assert [service.record(command)["status"] for command in (statement, job)] == ["running", "running"]
    gate.touch()

    for command in (statement, job):
        record = service.ended(command, _SECONDS)
        assert record["status"] == "done", f"{record['message']}\n{service.logs(command)}"
        assert len(record["attempts"]) == 1
    assert service.text(statement) == "7\r\n"
    (application,) = service.http.get(f"/commands/{job}/jobs").json()["jobs"]
    assert application["status"] == "SUCCEEDED"
    resource_manager = application["url"].partition("/cluster/app/")[0]
    told = httpx.get(f"{resource_manager}/ws/v1/cluster/apps/{application['application_id']}", timeout=90).json()["app"]
    assert told["queue"] == "root.night"


def test_a_line_in_a_notebook_runs_a_program_of_hadoop(service: HadoopService, tmp_path: Path) -> None:
    storage = service.data_dir / "storage" / tmp_path.name  # a second attempt finds nothing of the first
    source, target = storage / "source", storage / "target"
    source.mkdir(parents=True)
    (source / "line").write_text("a\n")
    places = {"SVC_BASE_URL": service.base_url, "SVC_API_TOKEN": service.token, "HOME": str(tmp_path)}
    session = KernelSession({"PATH": os.environ["PATH"], "IPYTHONDIR": str(tmp_path / "ipython"), **places})
    try:
        assert session.run("%load_ext svc_jupyter").status == "ok"
        begun = session.run(f"job = %svc_hadoop --no-wait --pool day distcp {source.as_uri()} {target.as_uri()}")
        assert begun.status == "ok", begun.error
        record = service.ended(int(session.value("job.id")), _SECONDS)
        assert record["status"] == "done", f"{record['message']}\n{service.logs(record['id'])}"
        assert session.value("job.status()") == "done"
    finally:
        session.close()
    assert (record["pool"], (target / "line").read_text()) == ("day", "a\n")


def test_pig_hadoop_and_hive_read_and_write_a_store_that_the_account_gets_while_they_run(
    service: HadoopService, s3: S3Server
) -> None:
    run = f"run{secrets.token_hex(3)}"  # a second attempt finds nothing of the first
    hive(service, "SELECT 1")  # HiveServer2 and the metastore run, and know of no store yet
    assert service.http.put("/account/storage", json=s3.record).status_code == 200

    script = FLIGHTS + "g = GROUP f BY carrier; s = FOREACH g GENERATE group AS carrier, COUNT(f) AS n;"
    pig = succeeded(service, script + f"STORE s INTO '{run}/counts' USING PigStorage(','); DUMP s;")
    assert {"carrier": "UA", "n": 3} in rows_of(service, pig["id"])

    arguments = f"-D mapreduce.job.reduces=0 -input s3://lake/pig/flights.csv -output s3://lake/{run}/streamed "
    job = submit(
        service, "HadoopCommand", sub_command="streaming", sub_command_args=f"{arguments} -mapper 'cut -d, -f 1'"
    )
    record = service.ended(job, _SECONDS)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(job)}"
    assert sorted(s3.text(f"{run}/streamed").split()) == ["AA", "B6", "UA", "UA", "UA"]
    assert not (service.folder(job) / "1" / "storage-secrets").exists()

    copied = submit(
        service,
        "HadoopCommand",
        sub_command="distcp",
        sub_command_args=f"s3://lake/{run}/streamed s3://lake/{run}/copied",
    )
    record = service.ended(copied, _SECONDS)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(copied)}"
    assert s3.text(f"{run}/copied") == s3.text(f"{run}/streamed")

    query = hive(
        service,
        f"CREATE TABLE counts_{run} (carrier string, n int) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' "
        f"LOCATION 's3://lake/{run}/counts';\n"
        f"CREATE TABLE kept_{run} (carrier string, n int) PARTITIONED BY (day string) STORED AS PARQUET "
        f"LOCATION 's3://lake/{run}/kept';\n"
        f"INSERT INTO kept_{run} PARTITION (day='2026-11-21') SELECT * FROM counts_{run};\n"
        f"SELECT carrier, n FROM kept_{run} ORDER BY carrier",
    )
    assert service.text(query) == "AA\t1\r\nB6\t1\r\nUA\t3\r\n"
    partitions = service.http.get(f"/hive/default/kept_{run}/partitions").json()["partitions"]
    assert [each["location"] for each in partitions] == [f"s3://lake/{run}/kept/day=2026-11-21"]
    assert any(key.endswith(".parquet") for key in s3.keys(f"{run}/kept/day=2026-11-21"))

    (application,) = {job["application_id"] for job in service.http.get(f"/commands/{query}/jobs").json()["jobs"]}
    assert application.startswith("application_")  # of YARN; in its own process it would be local-…

    processes = subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
    told = processes + service.logs(pig["id"]) + service.logs(job) + service.logs(copied) + service.logs(query)
    assert s3.secret_key not in told
    assert not files_with(s3.secret_key, files_below(service.data_dir, "*.xml"))
