"""Lock files: the files of a Maven repository that make up an engine, with their checksums and sizes.

A line is `<path> <sha256> <size>`: the path below the repository's address, the digest of the content, its bytes. The
order of the lines is the order of the class path. A line `requires <engine>` names an engine whose jars come after
these; `root <group>:<artifact>:<version>` and `without <group>:<artifact>` record the lock's input (`relock.py`). `#`
begins a comment.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

from svc_jupyter.service.installs.failures import InvalidLock

_PACKAGE = "svc_jupyter.service.installs.locks"
_FILE_NAME = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*?)-(?P<version>\d[\w.]*)\.lock")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Artifact:
    """A file of a Maven repository: `path` below its address, digest, size in bytes."""

    path: str
    sha256: str
    size: int

    @property
    def file_name(self) -> str:
        """The file's name in an installation."""
        return PurePosixPath(self.path).name

    def __str__(self) -> str:
        return f"{self.path} {self.sha256} {self.size}"


@dataclass(frozen=True)
class Lock:
    """The files of an engine, in the order of its class path."""

    name: str
    version: str
    artifacts: tuple[Artifact, ...]
    requires: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(artifact.size for artifact in self.artifacts)

    @property
    def digest(self) -> str:
        """A short digest of the files and their order, part of the name of the installation's folder."""
        return hashlib.sha256("\n".join(map(str, self.artifacts)).encode()).hexdigest()[:12]


def parse(file_name: str, text: str) -> Lock:
    """Return the lock in a file of this name (`pig-0.18.0.lock`); raises `InvalidLock` with the line."""
    named = _FILE_NAME.fullmatch(file_name)
    if named is None:
        raise InvalidLock(f"{file_name}: a lock's name is <engine>-<version>.lock")
    artifacts: list[Artifact] = []
    words: dict[str, list[str]] = {"requires": [], "root": [], "without": []}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        if len(fields) == 2 and fields[0] in words:
            words[fields[0]].append(fields[1])
        elif len(fields) == 3 and _SHA256.fullmatch(fields[1]) and fields[2].isdecimal() and _is_inside(fields[0]):
            artifacts.append(Artifact(fields[0], fields[1], int(fields[2])))
        else:
            raise InvalidLock(f"{file_name}, line {number}: not <path> <sha256> <size>, nor a known word")
    names = [artifact.file_name for artifact in artifacts]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InvalidLock(f"{file_name}: {', '.join(doubled)} is there twice, and would be in one folder")
    return Lock(
        named["name"],
        named["version"],
        tuple(artifacts),
        *(tuple(words[word]) for word in ("requires", "root", "without")),
    )


@cache
def all_locks() -> tuple[Lock, ...]:
    """Return the package's locks, of engines and tools."""
    found = (file for file in files(_PACKAGE).iterdir() if _FILE_NAME.fullmatch(file.name))
    return tuple(parse(file.name, file.read_text()) for file in sorted(found, key=lambda file: file.name))


def locked(name: str) -> Lock:
    """Return the package's lock of an engine or tool; raises `InvalidLock` when there is none."""
    for lock in all_locks():
        if lock.name == name:
            return lock
    raise InvalidLock(f"there is no lock for {name!r} in this installation of svc-jupyter: install it again")


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and not any(part in ("", ".", "..") for part in path.split("/"))
