"""The code of a pipeline in a real Spark: killed and begun again it loses nothing and does nothing twice."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.engines import ONE_COMPILER, engine_at_once
from tests.support.service_process import wait_until

from svc_jupyter.api.pipelines import PipelineCreate
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.pipelines.definition import definition_of, submit_line

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(700)]
SECONDS = 300.0
NUMBERS = """
import sys
source, sink = sys.argv[1:]
numbers = spark.readStream.schema("n LONG").option("maxFilesPerTrigger", 1).json(source)
numbers.writeStream.queryName("numbers").format("json").option("path", sink).start()
"""
UNNAMED = "spark.readStream.format('rate').load().writeStream.format('noop').start()"
Run = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Begins a run of code as a pipeline's command does; what is left of it is ended afterwards."""
    spark = engine_at_once(Engine.SPARK)
    home = next(spark.home.glob("lib/python*/site-packages/pyspark"))
    python = spark.home / "bin" / "python"
    begun: list[subprocess.Popen[bytes]] = []

    def run(code: str, *arguments: str) -> subprocess.Popen[bytes]:
        body = {"name": "p", "code": code, "user_arguments": shlex.join(arguments)}
        definition = definition_of(PipelineCreate.model_validate(body))
        (tmp_path / "code.py").write_text(code)
        checkpoints = (tmp_path / "checkpoints").as_uri()
        line = submit_line(definition, "code", checkpoints=checkpoints, code_file=tmp_path / "code.py")
        options = ["--master", "local[1]", "--conf", "spark.ui.enabled=false", "--driver-memory", "512m"]
        options += ["--driver-java-options", ONE_COMPILER]
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": str(python),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen(
                [home / "bin" / "spark-submit", *options, *shlex.split(line)[1:]],
                env=environment,
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        begun.append(process)
        return process

    yield run
    for process in begun:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a run with all that it started, as a lack of memory would."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def feed(source: Path, numbers: range) -> None:
    """Put numbers into the source, a file each, whole at once."""
    source.mkdir(exist_ok=True)
    for number in numbers:
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


def test_a_run_that_is_killed_between_batches_is_gone_on_with(run: Run, tmp_path: Path):
    source, sink = tmp_path / "source", tmp_path / "sink"
    feed(source, range(8))
    first = run(NUMBERS, source.as_uri(), sink.as_uri())
    wait_until(lambda: committed(sink), "the first batch", SECONDS)
    end(first)
    feed(source, range(8, 12))
    run(NUMBERS, source.as_uri(), sink.as_uri())
    wait_until(lambda: len(committed(sink)) >= 12, "all numbers", SECONDS)
    assert committed(sink) == list(range(12))


def test_a_query_without_a_name_ends_the_run_with_the_reason(run: Run, tmp_path: Path):
    assert run(UNNAMED).wait(SECONDS) != 0
    assert "a streaming query has no name" in (tmp_path / "log").read_text()
