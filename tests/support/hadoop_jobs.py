"""Real MapReduce jobs for tests: `await start_job(instance, Job.SLEEP, …)`, `finish_job(process)`.

Their jars are in a lock beside this file and lie with the engines, so that a machine fetches them once.
"""

from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path

from tests.support.engines import ENGINES, engine_for_tests

from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.lock import parse
from svc_jupyter.service.runtimes.hadoop.nodes import client_folder

_LOCK = Path(__file__).with_name("hadoop-jobs-3.5.0.lock")


class Job(Enum):
    """A job by its main class."""

    SLEEP = "org.apache.hadoop.mapreduce.SleepJob"
    """`-m MAPS -r REDUCES -mt MILLISECONDS -rt MILLISECONDS`"""
    EXAMPLE = "org.apache.hadoop.examples.ExampleDriver"
    """`wordcount IN OUT`, `pi MAPS SAMPLES` …"""


async def job_jars() -> tuple[Path, ...]:
    """Return the jars with the jobs, fetched where they are missing."""
    lock = parse(_LOCK.name, _LOCK.read_text())
    await ENGINES.installation.install(lock, _say)
    return ENGINES.installation.jars(lock)


async def start_job(instance: Instance, job: Job, *arguments: str) -> subprocess.Popen[str]:
    """Start a job as any client would, with the cluster's own settings; its output is `stdout` of the process.

    Start the history server before (`HadoopEngine.ensure_history_server`): clients ask it how the job ended.
    """
    jars = [*await job_jars(), *(await engine_for_tests(Engine.HADOOP)).jars]
    java = (await ENGINES.java(lambda _line: None)).java
    class_path = ":".join(map(str, (client_folder(instance), *jars)))
    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
    return subprocess.Popen(  # noqa: ASYNC220  it runs on while tests do other things
        [str(java), *options, "-cp", class_path, job.value, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish_job(process: subprocess.Popen[str], seconds: float = 90.0) -> str:
    """Wait for the end of a job that is to end well; return its output."""
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise AssertionError(f"the job did not end within {seconds} s:\n{output[-3000:]}") from None
    assert process.returncode == 0, output[-3000:]
    return output


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
