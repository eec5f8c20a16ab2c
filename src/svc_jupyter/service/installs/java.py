"""The Java of the engines: JAVA_HOME's, `java` on the path, or one installed as a Python package."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from svc_jupyter.service.installs.failures import JavaUnusable
from svc_jupyter.service.processes.tool import run

MAJORS = (17, 21)
"""The supported versions, best first; the first is installed where there is none. Hadoop needs 17."""

_ASK_SECONDS = 20.0
_PROPERTIES = "-XshowSettings:properties"


@dataclass(frozen=True)
class JavaHome:
    """A working Java: its home, major version, full version, and the build on which a class archive depends."""

    home: Path
    major: int
    version: str
    build: str

    @property
    def java(self) -> Path:
        """The path of the program."""
        return self.home / "bin" / "java"

    @property
    def key(self) -> str:
        """A short name of this build at this path: its class archives are useless to another."""
        digest = sha256(f"{self.home} {self.build}".encode()).hexdigest()
        return f"{self.major}-{digest[:10]}"


@dataclass(frozen=True)
class Candidate:
    """A program that may be a Java, and where it was found, as a text."""

    program: Path
    source: str


def candidates(environment: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield the existing programs of JAVA_HOME and of the path, in this order."""
    home = environment.get("JAVA_HOME")
    if home and os.access(program := Path(home) / "bin" / "java", os.X_OK):
        yield Candidate(program, "JAVA_HOME")
    found = shutil.which("java", path=environment.get("PATH", ""))
    if found:
        yield Candidate(Path(found), "the path")


async def ask(program: Path) -> JavaHome:
    """Return the properties that a Java prints; raises `JavaUnusable` with its output otherwise."""
    try:
        ended = await run([program, _PROPERTIES, "-version"], seconds=_ASK_SECONDS)
    except (OSError, TimeoutError) as error:
        reason = "it does not answer" if isinstance(error, TimeoutError) else error.strerror
        raise JavaUnusable(f"{program} cannot be run: {reason}") from error
    properties = parse_properties(ended.output)
    if ended.code or properties is None:
        raise JavaUnusable(f"{program} is not a Java that runs:\n{ended.last_lines}")
    return properties


def parse_properties(text: str) -> JavaHome | None:
    """Return the Java in the output of `-XshowSettings:properties`; None for any other text."""
    pairs = (line.strip().partition(" = ") for line in text.splitlines())
    found = {name: value for name, _, value in pairs if value}
    try:
        version = found["java.version"]
        home = Path(found["java.home"])
        build = f"{found['java.vm.name']} {found['java.vm.version']} {found['java.vm.vendor']}"
    except KeyError:
        return None
    major = version.split("+")[0].split(".")[0].split("-")[0]
    return JavaHome(home, int(major), version, build) if major.isdecimal() else None
