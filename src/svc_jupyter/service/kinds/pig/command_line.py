"""Arguments and environment of a Pig Java process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from svc_jupyter.files import write_whole
from svc_jupyter.service.installs.additions import CompiledJar
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Installed, class_path
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.processes.worker_parent import MARK, MARK_BYTES

MAIN_CLASS: Final = "svc.jupyter.pig.Runner"
RUNNER_JAR: Final = CompiledJar("runner", "svc-pig-runner.jar", "svc_jupyter.service.kinds.pig.java")
"""The project's jar that runs a script in a warm Java; its sources are in `java/`."""
HEAP_MEGABYTES: Final = 512
PYTHON: Final = "python-udf"
"""The program that Pig starts for a Python function; the name must begin with `python`."""
_OPTIONS: Final = (
    f"-Xmx{HEAP_MEGABYTES}m",
    "-Xms64m",
    "-XX:TieredStopAtLevel=1",  # scripts run for seconds: the second compiler costs more time than it saves
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+DisplayVMOutputToStderr",
    "-Djava.net.preferIPv4Stack=true",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
)
_OPENED: Final = ("java.lang", "java.util", "java.net", "java.io", "java.nio", "sun.nio.ch")
_ALWAYS: Final = {"pig.streaming.udf.python.command": PYTHON}
_PART_BYTES: Final = str(16 << 20)
_LOCALLY: Final = {
    "pig.jobcontrol.sleep": "10",  # milliseconds between two polls of a job; the default is half a second
    "mapreduce.task.io.sort.mb": "16",  # a task allocates its whole buffer, and the heap is small
    "mapreduce.client.completion.pollinterval": "50",
    # A file is read in parallel parts; by default one task reads a file of less than 32 MB.
    "mapreduce.input.fileinputformat.split.maxsize": _PART_BYTES,
    "pig.maxCombinedSplitSize": _PART_BYTES,
}
_MOST_TASKS: Final = 4
"""Upper limit of parts read at once, given enough processors: each takes a share of one small heap."""


def arguments(installed: Installed, java: JavaHome, scratch: Path) -> list[str]:
    """Return the program and its arguments; they contain no secret, since all users can see them."""
    archive = archive_options(installed.class_archive) if installed.class_archive else []
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    folders = [f"-Djava.io.tmpdir={scratch / 'tmp'}"]
    return [
        str(java.java),
        *(*_OPTIONS, *archive, *opened, *folders),
        *("-cp", class_path(installed.jars), MAIN_CLASS, str(scratch)),
    ]


def environment(inherited: Mapping[str, str], programs: Path) -> dict[str, str]:
    """Return the environment: that of scripts, the program for Python functions, and room for a command's mark."""
    path = f"{programs}{os.pathsep}{inherited.get('PATH', os.defpath)}"
    return {**inherited, "PATH": path, MARK: MARK_BYTES * "."}


def make_scratch(scratch: Path) -> None:
    """Make the folder of a Java's temporary files; raises `OSError`."""
    (scratch / "tmp").mkdir(mode=0o700, parents=True)


def make_programs(programs: Path, python: str) -> None:
    """Make the folder of the program that runs Python functions; safe to repeat. Raises `OSError`."""
    programs.mkdir(mode=0o700, parents=True, exist_ok=True)
    script = Path(__file__).with_name("streaming_udf.py")
    write_whole(programs / PYTHON, f'#!/bin/sh\nexec "{python}" -B "{script}" "$@"\n', mode=0o700)


EXECTYPE: Final = "pig.exectype"
LOCAL: Final = "local"


def is_local(settings: Mapping[str, str]) -> bool:
    """Return whether a cluster's settings say that Pig needs no daemons."""
    return settings.get(EXECTYPE, "").lower() == LOCAL


def local_properties(settings: Mapping[str, str], processors: int) -> dict[str, str]:
    """Return the properties of a script that runs in its own Java; the cluster's settings take precedence."""
    tasks = {"mapreduce.local.map.tasks.maximum": str(min(processors, _MOST_TASKS))}
    return {**_ALWAYS, **_LOCALLY, **tasks, **settings}
