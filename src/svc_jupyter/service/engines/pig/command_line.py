"""How a Java of Pig is started: its arguments and its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from svc_jupyter.service.engines.class_archive import archive_options
from svc_jupyter.service.engines.engine import Installed, class_path
from svc_jupyter.service.engines.java import JavaHome
from svc_jupyter.service.engines.pig.runner_jar import MAIN_CLASS
from svc_jupyter.service.workers.parent import MARK, MARK_BYTES

HEAP_MEGABYTES: Final = 512
PYTHON: Final = "python-udf"
"""The program that Pig starts for a Python function; the name has to begin with `python`."""
_OPTIONS: Final = (
    f"-Xmx{HEAP_MEGABYTES}m",
    "-Xms64m",
    "-XX:TieredStopAtLevel=1",  # scripts run for seconds: what the better compiler wins, it takes itself
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+DisplayVMOutputToStderr",
    "-Djava.net.preferIPv4Stack=true",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
)
_OPENED: Final = ("java.lang", "java.util", "java.net", "java.io", "java.nio", "sun.nio.ch")


def arguments(installed: Installed, java: JavaHome, scratch: Path) -> list[str]:
    """Return the program and its arguments; nothing in them is secret, since everybody sees them."""
    archive = archive_options(installed.class_archive) if installed.class_archive else []
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    folders = [f"-Djava.io.tmpdir={scratch / 'tmp'}"]
    return [
        str(java.java),
        *(*_OPTIONS, *archive, *opened, *folders),
        *("-cp", class_path(installed.jars), MAIN_CLASS, str(scratch)),
    ]


def environment(inherited: Mapping[str, str], programs: Path) -> dict[str, str]:
    """Return the environment: what scripts get, the program for Python functions, and room for a command's mark."""
    path = f"{programs}{os.pathsep}{inherited.get('PATH', os.defpath)}"
    return {**inherited, "PATH": path, MARK: MARK_BYTES * "."}


def make_scratch(scratch: Path) -> None:
    """Make the folder of a Java's temporary files; raises `OSError`."""
    (scratch / "tmp").mkdir(mode=0o700, parents=True)


def make_programs(programs: Path, python: str) -> None:
    """Make the folder of the program that runs Python functions; raises `OSError`. Again is no error."""
    programs.mkdir(mode=0o700, parents=True, exist_ok=True)
    script = Path(__file__).with_name("streaming_udf.py")
    draft = programs / f"{PYTHON}.{os.getpid()}"
    draft.write_text(f'#!/bin/sh\nexec "{python}" -B "{script}" "$@"\n')
    draft.chmod(0o700)
    draft.replace(programs / PYTHON)
