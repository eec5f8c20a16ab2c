"""Arguments and environment of a Pig Java process, and the jars made for it when Pig is installed."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.files import write_whole
from svc_jupyter.service.installs.additions import CompiledJar, Workshop
from svc_jupyter.service.installs.class_archive import archive_options
from svc_jupyter.service.installs.engine import Installed, class_path
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.processes.worker_parent import MARK

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


def environment(inherited: Mapping[str, str], programs: Path, scratch: Path) -> dict[str, str]:
    """Return the environment: that of scripts, the program for Python functions, and the mark."""
    path = f"{programs}{os.pathsep}{inherited.get('PATH', os.defpath)}"
    return {**inherited, "PATH": path, MARK: str(scratch)}


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


_FROM: Final = b"org/roaringbitmap"
_TO: Final = b"org/apache/pig/org/roaringbitmap"
_JARS: Final = ("RoaringBitmap-", "shims-")
_UTF8: Final = 1
_HEADER: Final = 10
"""Magic number, two versions and the number of constants, which precede the constants."""
_SIZES: Final = {
    **dict.fromkeys((7, 8, 16, 19, 20), 2),
    15: 3,
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
    **dict.fromkeys((5, 6), 8),
}
"""Bytes of a constant by its tag (Java Virtual Machine Specification, 4.4)."""
_WIDE: Final = (5, 6)
"""Long and double take two places of the pool."""


@dataclass(frozen=True)
class RelocatedJar:
    """A copy of RoaringBitmap under the package name that Pig uses, made when Pig is installed; see `Addition`.

    Pig's own build moves the library into a package of Pig's, and its published jar omits it: without it no script runs
    on MapReduce, and none locally that uses Bloom filters. Class names are texts in the constant pools of class files;
    moving a package means rewriting those texts.
    """

    name: str = "roaring-bitmap"
    key: str = "1"

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Write every class of the library under its other name."""
        sources = [jar for jar in workshop.installed.jars if jar.name.startswith(_JARS)]
        with zipfile.ZipFile(folder / "roaring-bitmap-of-pig.jar", "w", zipfile.ZIP_DEFLATED) as target:
            for source in sources:
                with zipfile.ZipFile(source) as jar:
                    for name in jar.namelist():
                        if name.endswith(".class") and name.startswith(_FROM.decode()):
                            target.writestr(moved(name.encode()).decode(), relocated(jar.read(name)))


def moved(text: bytes) -> bytes:
    """Return a name, descriptor or signature with the package replaced."""
    return text.replace(_FROM, _TO).replace(_FROM.replace(b"/", b"."), _TO.replace(b"/", b"."))


def relocated(content: bytes) -> bytes:
    """Return a class file whose constants name the other package. Raises `ValueError` if it is not a class file."""
    if content[:4] != b"\xca\xfe\xba\xbe":
        raise ValueError("not a class file")
    parts = [content[:_HEADER]]
    end = _HEADER
    for start, end, text in _constants(content):
        if text is None:
            parts.append(content[start:end])
        else:
            new = moved(text)
            parts.append(struct.pack(">BH", _UTF8, len(new)) + new)
    return b"".join((*parts, content[end:]))


def _constants(content: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield the start and end of each constant and, for a text, the text."""
    (count,) = struct.unpack_from(">H", content, 8)
    place, at = 1, _HEADER
    while place < count:
        tag = content[at]
        if tag == _UTF8:
            (length,) = struct.unpack_from(">H", content, at + 1)
            yield at, at + 3 + length, content[at + 3 : at + 3 + length]
            at += 3 + length
        elif tag in _SIZES:
            yield at, at + 1 + _SIZES[tag], None
            at += 1 + _SIZES[tag]
        else:
            raise ValueError(f"a constant of an unknown kind ({tag})")
        place += 2 if tag in _WIDE else 1
