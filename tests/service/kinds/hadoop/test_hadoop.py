"""`HadoopCommand` on a real cluster: its programs, their jobs, their failures, their end."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.hadoop import SharedHadoop
from tests.support.hadoop_jobs import job_jars
from tests.support.service_process import wait_until

pytestmark = pytest.mark.timeout(900)
_SECONDS = 300.0


def submit(hadoop: SharedHadoop, sub_command: str, arguments: str, **fields: Any) -> int:
    body = {"command_type": "HadoopCommand", "sub_command": sub_command, "sub_command_args": arguments, **fields}
    response = hadoop.http.post("/commands", json=body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def jobs_of(hadoop: SharedHadoop, command: int) -> list[dict[str, Any]]:
    return list(hadoop.http.get(f"/commands/{command}/jobs").json()["jobs"])


def stored(hadoop: SharedHadoop, name: str) -> Path:
    """A new folder of the account's storage."""
    folder = hadoop.data_dir / "storage" / f"{name}-{uuid4().hex}"
    folder.mkdir(parents=True)
    return folder


def test_files_are_copied_in_counted_by_streaming_and_copied_out(hadoop: SharedHadoop) -> None:
    source, target, name = stored(hadoop, "in"), stored(hadoop, "out"), uuid4().hex
    (source / "words.txt").write_text("a b\nb c\nc c\n")
    assert hadoop.ended(submit(hadoop, "distcp", f"{source.as_uri()} /{name}/in"), _SECONDS)["status"] == "done"
    streaming = (
        f"-D mapreduce.job.reduces=1 -input /{name}/in -output /{name}/out "
        """-mapper 'tr " " "\\n"' -reducer 'uniq -c'"""
    )
    record = hadoop.ended(submit(hadoop, "streaming", streaming, pool="counting"), _SECONDS)
    assert record["status"] == "done", record["message"]
    (job,) = jobs_of(hadoop, record["id"])
    assert (job["status"], job["progress"]) == ("SUCCEEDED", 100)
    assert "map 100% reduce 100%" in hadoop.logs(record["id"])
    copied = hadoop.ended(submit(hadoop, "distcp", f"/{name}/out {target.as_uri()}/counts"), _SECONDS)
    assert copied["status"] == "done", copied["message"]
    lines = (target / "counts" / "part-00000").read_text().splitlines()
    assert [line.split() for line in lines] == [["1", "a"], ["2", "b"], ["3", "c"]]
    (target / "again").mkdir()
    again = submit(hadoop, "s3distcp", f"--src /{name}/out --dest={target.as_uri()}/again")
    assert hadoop.ended(again, _SECONDS)["status"] == "done"
    assert (target / "again" / "part-00000").read_text().splitlines() == lines
    one = submit(hadoop, "s3distcp", f"--src {(source / 'words.txt').as_uri()} --dest {target.as_uri()}/one/")
    assert hadoop.ended(one, _SECONDS)["status"] == "done"
    assert (target / "one" / "words.txt").read_text() == "a b\nb c\nc c\n"


def test_a_missing_input_is_named(hadoop: SharedHadoop) -> None:
    record = hadoop.ended(submit(hadoop, "streaming", "-input /nope -output /x -mapper cat"), _SECONDS)
    assert record["status"] == "error"
    assert "Input path does not exist: hdfs://" in record["message"]


def test_a_jar_of_the_storage_runs_and_what_it_prints_is_the_result(hadoop: SharedHadoop) -> None:
    folder = stored(hadoop, "jars")
    jar = next(jar for jar in asyncio.run(job_jars()) if "examples" in jar.name)
    shutil.copy(jar, folder / "examples.jar")
    record = hadoop.ended(submit(hadoop, "jar", f"{(folder / 'examples.jar').as_uri()} pi 1 1"), _SECONDS)
    assert record["status"] == "done", record["message"]
    assert "Estimated value of Pi is 4" in hadoop.text(record["id"])


def test_a_small_job_does_not_wait_for_the_end_of_a_large_one(hadoop: SharedHadoop) -> None:
    folder, name = stored(hadoop, "in"), uuid4().hex
    (folder / "many").write_text("8\n" * 60)
    (folder / "one").write_text("0\n")
    options = "-D mapreduce.job.reduces=0 -D stream.map.input.ignoreKey=true"
    options += " -inputformat org.apache.hadoop.mapred.lib.NLineInputFormat -mapper 'xargs sleep'"
    large = submit(hadoop, "streaming", f"{options} -input {(folder / 'many').as_uri()} -output /{name}/large")
    try:
        wait_until(lambda: [job for job in jobs_of(hadoop, large) if job["progress"] > 0], "its first tasks", _SECONDS)
        small = submit(hadoop, "streaming", f"{options} -input {(folder / 'one').as_uri()} -output /{name}/small")
        record = hadoop.ended(small, _SECONDS)
        (job,) = jobs_of(hadoop, large)
    finally:
        hadoop.http.put(f"/commands/{large}", json={"status": "kill"})  # it would keep the cluster from others

    assert record["status"] == "done", record["message"]
    assert job["status"] == "RUNNING"
    hadoop.ended(large, _SECONDS)


def test_a_cancellation_ends_the_application(hadoop: SharedHadoop) -> None:
    folder = stored(hadoop, "in")
    (folder / "line").write_text("x\n")
    arguments = f"-input {folder.as_uri()} -output /{uuid4().hex} -mapper 'sleep 240'"
    command = submit(hadoop, "streaming", arguments)
    wait_until(lambda: jobs_of(hadoop, command), "its application", _SECONDS)
    assert hadoop.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]
    wait_until(lambda: {job["status"] for job in jobs_of(hadoop, command)} == {"KILLED"}, "the end of it", 60)
    assert "ended application_" in hadoop.logs(command)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sub_command": "fs", "sub_command_args": "-ls"}, "sub_command"),
        ({"sub_command": "jar", "sub_command_args": "'open"}, "cannot be split"),
        ({"sub_command": "jar", "sub_command_args": "file:///etc/passwd"}, "is outside the folders"),
    ],
)
def test_a_wrong_submission_is_refused(hadoop: SharedHadoop, fields: dict[str, Any], reason: str) -> None:
    response = hadoop.http.post("/commands", json={"command_type": "HadoopCommand", **fields})
    assert response.status_code == 422
    assert reason in response.json()["error"]["error_message"]
