"""A real MapReduce job for tests: maps that sleep, one reduce that lists which attempt did what."""

from __future__ import annotations

import asyncio
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.engines import ENGINES

from svc_jupyter.service.installs.engine import Engine, class_path

SOURCE = Path(__file__).with_name("java") / "SleepJob.java"
# A heartbeat, the look for the end and the start of each JVM take most of a short job's time.
_SETTINGS = (
    "-Dmapreduce.job.reduce.slowstart.completedmaps=1.0",
    "-Dmapreduce.client.completion.pollinterval=100",
    "-Dyarn.app.mapreduce.am.scheduler.heartbeat.interval-ms=100",
    "-Dmapreduce.map.speculative=false",
)


@dataclass(frozen=True, slots=True)
class EndedJob:
    """What the client of a job printed."""

    exit_code: int
    text: str
    lines: Sequence[str]
    """The job's output: a key and a task attempt a line, sorted."""

    def counter(self, name: str) -> int:
        """Return a counter by the words that the client prints for it, 0 where it is not there."""
        found = re.search(rf"^\s*{re.escape(name)}=(\d+)", self.text, re.MULTILINE)
        return 0 if found is None else int(found[1])


async def sleep_job_jar(folder: Path) -> Path:
    """Return the job's jar, compiled into `folder` unless it is there."""
    jar = folder / "sleep-job.jar"
    if not jar.exists():
        hadoop = await ENGINES.ensure(Engine.HADOOP, print)
        classes = folder / "classes"
        await ENGINES.compile([SOURCE], hadoop.jars, classes, print)
        with zipfile.ZipFile(jar, "w") as archive:
            for file in sorted(classes.rglob("*.class")):
                archive.write(file, file.relative_to(classes))
    return jar


class SleepJob:
    """A job on a cluster, whose client's settings are in `conf`; `seconds` has how long each map sleeps."""

    def __init__(self, jar: Path, conf: Path, folder: Path, seconds: Sequence[float]) -> None:
        self._jar = jar
        self._conf = conf
        self._folder = folder
        self._seconds = seconds

    async def run(self) -> EndedJob:
        """Run it to its end; a cancellation ends its client."""
        self._folder.mkdir(parents=True, exist_ok=True)
        source, output = self._folder / "input", self._folder / "output"
        source.write_text("".join(f"{key:03} {1000 * each:.0f}\n" for key, each in enumerate(self._seconds)))
        hadoop = await ENGINES.ensure(Engine.HADOOP, print)
        java = (await ENGINES.java(print)).java
        command = (
            *(str(java), "-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            *([] if hadoop.class_archive is None else [f"-XX:SharedArchiveFile={hadoop.class_archive}"]),
            *("-cp", class_path((*hadoop.jars, self._jar), self._conf), "SleepJob", *_SETTINGS),
            *(source.as_uri(), output.as_uri()),
        )
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=self._folder, env=clean
        )
        try:
            printed, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        parts = sorted(output.glob("part-*"))
        lines = sorted(line for part in parts for line in part.read_text().splitlines())
        return EndedJob(process.returncode, printed.decode(), lines)
