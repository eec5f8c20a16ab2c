"""A streaming pipeline on a real Spark cluster, from its start to its deletion."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.notifications.hook_server import HookServer
from tests.support.engines import engine_at_once
from tests.support.hadoop import java_program
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.spark import LABEL, SECONDS

from svc_jupyter.service.installs.engine import Engine

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(900)]
CODE = """
import sys
source, sink = sys.argv[1:]
numbers = spark.readStream.schema("n LONG").option("maxFilesPerTrigger", 2).json(source)
numbers.writeStream.queryName("numbers").format("json").option("path", sink).start()
"""


IN_SCALA = """
object Numbers {
  def main(arguments: Array[String]): Unit = {
    val spark = org.apache.spark.sql.SparkSession.builder().getOrCreate()
    val numbers = spark.readStream.schema("n LONG").json(arguments(0))
    val query = numbers.writeStream.queryName("numbers").format("json").option("path", arguments(1)).start()
    query.awaitTermination()
  }
}
"""


@pytest.fixture
def hook() -> Iterator[HookServer]:
    """An HTTP server that takes webhooks."""
    server = HookServer()
    server.start()
    yield server
    server.stop()


def jar_of(code: str, folder: Path) -> Path:
    """Compile a program by the compiler that Spark brings."""
    jars = next(engine_at_once(Engine.SPARK).home.glob("lib/python*/site-packages/pyspark/jars"))
    (folder / "program.scala").write_text(code)
    java = asyncio.run(java_program())
    words = ["scala.tools.nsc.Main", "-usejavacp", "-d", folder / "program.jar", folder / "program.scala"]
    subprocess.run([java, "-cp", f"{jars}/*", *words], check=True)
    return folder / "program.jar"


def call(service: ServiceProcess, pipeline_id: int, what: str) -> dict[str, Any]:
    answer = service.http.put(f"/pipelines/{pipeline_id}/{what}", timeout=SECONDS)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"]["attributes"])


def make(service: ServiceProcess, **fields: Any) -> int:
    body = {"name": "numbers", "cluster_label": LABEL, **fields}
    answer = service.http.post("/pipelines", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["data"]["id"])


def attributes(service: ServiceProcess, pipeline_id: int) -> dict[str, Any]:
    return dict(service.http.get(f"/pipelines/{pipeline_id}").json()["data"]["attributes"])


def reaches(service: ServiceProcess, pipeline_id: int, status: str) -> dict[str, Any]:
    """Wait until the last run stands so; return the attributes."""

    def look() -> dict[str, Any] | None:
        now = attributes(service, pipeline_id)
        return now if now["pipeline_instance_status"] == status else None

    return dict(wait_until(look, f"the pipeline is {status}", SECONDS))


def feed(source: Path, first: int, count: int) -> None:
    """Put numbers into the source, a file each, whole at once."""
    source.mkdir(exist_ok=True)
    for number in range(first, first + count):
        draft = source.parent / f"{number}.part"
        draft.write_text(json.dumps({"n": number}) + "\n")
        draft.rename(source / f"{number}.json")


def committed(sink: Path) -> list[int]:
    """Return the numbers in the sink that its log of batches tells, as Spark itself reads them."""
    files: set[Path] = set()
    for batch in sink.glob("_spark_metadata/[0-9]*"):
        entries = [json.loads(line) for line in batch.read_text().splitlines()[1:]]
        files |= {Path(entry["path"].removeprefix("file://")) for entry in entries}
    lines = [line for file in files for line in file.read_text().splitlines()]
    return sorted(json.loads(line)["n"] for line in lines)


def test_a_pipeline_of_a_jar_that_is_paused_goes_on_where_it_was(spark: ServiceProcess, tmp_path: Path):
    source, sink = tmp_path / "source", tmp_path / "sink"
    feed(source, 0, 6)
    jar = {"create_type": "jar", "jar_path": str(jar_of(IN_SCALA, tmp_path)), "main_class": "Numbers"}
    pipeline_id = make(spark, **jar, user_arguments=f"{source.as_uri()} {sink.as_uri()}")
    call(spark, pipeline_id, "start")
    wait_until(lambda: committed(sink) == list(range(6)), "the first numbers", SECONDS)
    assert reaches(spark, pipeline_id, "RUNNING")["health"]["status"] == "green"
    refused = spark.http.put(f"/pipelines/{pipeline_id}/delete")
    assert (refused.status_code, "it can be deleted once it is paused" in refused.text) == (409, True)
    call(spark, pipeline_id, "pause")
    reaches(spark, pipeline_id, "PAUSED")
    feed(source, 6, 6)
    call(spark, pipeline_id, "start")
    wait_until(lambda: len(committed(sink)) >= 12, "all numbers", SECONDS)
    assert committed(sink) == list(range(12))
    call(spark, pipeline_id, "pause")
    assert reaches(spark, pipeline_id, "PAUSED")["runs"] == 2
    assert call(spark, pipeline_id, "delete")["status"] == "deleted"
    assert spark.http.get(f"/pipelines/{pipeline_id}").status_code == 404


def test_a_pipeline_whose_source_vanishes_fails_with_the_reason_and_shows_its_channel(
    spark: ServiceProcess, tmp_path: Path, hook: HookServer
):
    source, sink = tmp_path / "source", tmp_path / "sink"
    feed(source, 0, 3)
    channel = {"name": "on call", "type": "webhook", "target": hook.url()}
    channel_id = spark.http.post("/notification_channels", json=channel).json()["id"]
    arguments = f"{source.as_uri()} {sink.as_uri()}"
    pipeline_id = make(spark, code=CODE, user_arguments=arguments, notification_channels=[channel_id])
    call(spark, pipeline_id, "start")
    wait_until(lambda: committed(sink) == list(range(3)), "the first numbers", SECONDS)
    refused = spark.http.put(f"/pipelines/{pipeline_id}/start")
    assert (refused.status_code, "is active" in refused.text) == (409, True)
    shutil.rmtree(source)
    health = reaches(spark, pipeline_id, "FAILED")["health"]
    assert health["status"] == "red"
    assert "the source of query numbers is gone: file:" in health["reason"]
    assert str(source) in health["reason"]
    wait_until(lambda: hook.posted, "the channel is told", SECONDS)
    command_id = attributes(spark, pipeline_id)["command_id"]
    assert (hook.posted[0].body["command_id"], hook.posted[0].body["event"]) == (command_id, "pipeline.failure")
