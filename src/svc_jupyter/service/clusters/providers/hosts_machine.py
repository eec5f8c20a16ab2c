"""A node of the provider `hosts`: a folder and daemons on a machine reached by SSH."""

from __future__ import annotations

import asyncio
import hashlib
import tarfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from uuid import uuid4

from svc_jupyter.service.clusters.providers import hosts_scripts as scripts
from svc_jupyter.service.clusters.providers.hosts_link import SCRIPT_SECONDS, HostLink
from svc_jupyter.service.clusters.providers.hosts_scripts import Look, parse_look, processors_percent
from svc_jupyter.service.clusters.providers.provider import Daemon, DaemonState, ProviderFailure
from svc_jupyter.service.ground.remembering import remember
from svc_jupyter.service.installs.java import MAJORS, parse_properties

_CHUNK_BYTES: Final = 2**18
_BLOCK: Final = 512
_MOST_DIGESTS: Final = 10_000
"""Several times the files of all engines; those used the longest ago are dropped first."""


@dataclass(frozen=True, slots=True)
class FileSet:
    """An engine's files. `places` are relative to the set's folder; files of one folder stay together."""

    folder: str
    files: Sequence[Path]
    places: Sequence[PurePosixPath]


class FileSets:
    """Names sets of files by their content; a file is read again only after a change."""

    def __init__(self) -> None:
        self._digests: dict[tuple[Path, int, int], str] = {}

    def of(self, name: str, files: Sequence[Path]) -> FileSet:
        """Return the set of these files, in their order. Raises `OSError`."""
        parents = list(dict.fromkeys(file.parent for file in files))
        places = [PurePosixPath(str(parents.index(file.parent)), file.name) for file in files]
        whole = hashlib.sha256()
        for file, place in zip(files, places, strict=True):
            whole.update(f"{place}\0{self._digest(file)}\0".encode())
        return FileSet(f"{name}-{whole.hexdigest()[:16]}", files, places)

    def _digest(self, file: Path) -> str:
        status = file.stat()
        key = (file, status.st_size, status.st_mtime_ns)
        if key not in self._digests:
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            remember(self._digests, key, digest, most=_MOST_DIGESTS)
            return digest
        return self._digests[key]


async def archive(files: Mapping[str, bytes]) -> AsyncIterator[bytes]:
    """Yield an archive of small files by path."""
    for name, content in files.items():
        yield _header(name, len(content)) + content + _padding(len(content))
    yield bytes(2 * _BLOCK)


async def archive_of(file_set: FileSet) -> AsyncIterator[bytes]:
    """Yield an archive of a set's files. Raises `OSError`."""
    for file, place in zip(file_set.files, file_set.places, strict=True):
        size = file.stat().st_size
        yield _header(str(place), size)
        with file.open("rb") as content:
            while chunk := await asyncio.to_thread(content.read, _CHUNK_BYTES):
                yield chunk
        yield _padding(size)
    yield bytes(2 * _BLOCK)


def total_bytes(files: Iterable[Path]) -> int:
    """Return the total size of files, in bytes."""
    return sum(file.stat().st_size for file in files)


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


LOOK_SECONDS: Final = 5.0
"""A host that takes longer to report its daemons counts as lost."""
_SHARED_SECONDS: Final = 1.5
"""A state this recent also answers the question for the load."""
_COPY_BYTES_PER_SECOND: Final = 100_000
"""The slowest copy that does not time out."""


class HostMachine:
    """One node on a host; see `Machine`."""

    def __init__(self, link: Callable[[], HostLink], folder: PurePosixPath, sets: FileSets) -> None:
        """`link` returns the connection; it raises `ProviderFailure` when there is none."""
        self.folder = folder
        self._link = link
        self._sets = sets

    async def write(self, files: Mapping[str, bytes]) -> None:
        """Write files below the folder in one round trip, each atomically."""
        await self._link().check(scripts.write(self.folder), more_input=archive(files))

    async def engine(self, name: str, files: Sequence[Path]) -> Sequence[PurePosixPath]:
        """Copy files to the host's cache unless their content is there; return where each lies."""
        link = self._link()
        try:
            file_set = await asyncio.to_thread(self._sets.of, name, files)
            target = link.host.folder / "engines" / file_set.folder
            async with link.copying:
                await self._copy(link, file_set, target)
        except OSError as error:
            raise ProviderFailure(f"{error.filename} cannot be copied: {error.strerror or error}") from error
        return [target / place for place in file_set.places]

    async def java(self) -> PurePosixPath:
        """Return the host's first suitable Java: the inventory's, JAVA_HOME's, the PATH's."""
        link = self._link()
        if link.java is None:
            link.java = _usable_java(link, await link.check(scripts.java(link.host.java)))
        return PurePosixPath(link.java)

    async def start(self, daemon: Daemon) -> None:
        """Start a daemon unless it runs; return once its process has begun."""
        link = self._link()
        answer = await link.run(scripts.start(self.folder, daemon.name, daemon.argv, daemon.environment))
        if answer.code:
            said = answer.errors.strip() or "nothing could be written (is the disk full?)"
            raise ProviderFailure(f"{daemon.name} could not be started in {self.folder} on {link.host.name}: {said}")

    async def daemons(self) -> Sequence[DaemonState]:
        """Return the state of all daemons, in one round trip; limits the size of their outputs."""
        return (await self._look()).daemons

    async def stop(self, name: str, grace_seconds: float) -> None:
        """End a daemon and forget it; sessions that it started continue, such as a NodeManager's containers."""
        seconds = grace_seconds + SCRIPT_SECONDS
        await self._link().check(scripts.stop(self.folder, name, grace_seconds), seconds=seconds)

    async def run(self, argv: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
        """Run a program to its end, then append its output to `log`; processes that it left running are not ended."""
        link, run_id = self._link(), uuid4().hex
        is_cancelled = True
        try:
            answer = await link.run(scripts.run(self.folder, argv, environment, run_id), seconds=None)
            is_cancelled = False
        finally:
            script = scripts.output_of_run(self.folder, run_id, is_cancelled=is_cancelled)
            with suppress(ProviderFailure):  # the original error says that the host is away, or the caller has gone
                output = await link.check(script)
                await asyncio.to_thread(_append, log, output)
        return answer.code

    async def tail(self, name: str, max_bytes: int = 4096) -> str:
        """Return the end of a daemon's error output."""
        return await self._link().check(scripts.tail(self.folder, name, max_bytes))

    async def load(self) -> Mapping[str, float]:
        """Return how busy the host's processors were since the last call, and how full the folder's disk is."""
        link = self._link()
        look = await self._look(at_most=_SHARED_SECONDS)
        cpu = processors_percent(link.last_load, look)
        link.last_load = look
        return {"cpu_percent": cpu, "disk_percent": look.disk_percent}

    async def end_everything(self, key: str) -> None:
        """Kill all processes of the node, delete its folder, and release the host."""
        link = self._link()
        await link.check(scripts.release(link.host.folder, self.folder, key))
        link.last_look = link.last_load = None

    async def _look(self, *, at_most: float = 0.0) -> Look:
        """Return the host's state, or the last one when it is at most `at_most` seconds old."""
        link = self._link()
        if link.last_look is None or time.monotonic() - link.last_look[0] >= at_most:
            look = parse_look(await link.check(scripts.look(self.folder), seconds=LOOK_SECONDS))
            link.last_look = (time.monotonic(), look)
        return link.last_look[1]

    async def _copy(self, link: HostLink, file_set: FileSet, target: PurePosixPath) -> None:
        answer = await link.run(scripts.is_copied(target))
        if answer.code == scripts.NOT_THERE:
            seconds = SCRIPT_SECONDS + total_bytes(file_set.files) / _COPY_BYTES_PER_SECOND
            await link.check(scripts.copy(target), more_input=archive_of(file_set), seconds=seconds)


def _usable_java(link: HostLink, output: str) -> str:
    """Return the program of the first Java of a supported version in the output of `hosts_scripts.java`."""
    found = []
    for part in output.split("== ")[1:]:
        program, _, properties = part.partition("\n")
        java = parse_properties(properties)
        if java is not None and java.major in MAJORS:
            return str(java.java)
        found.append(f"{program} is {java.version if java else 'no Java that runs'}")
    versions = " or ".join(map(str, MAJORS))
    where = f"{link.host.java} of the inventory" if link.host.java else "JAVA_HOME and the path"
    raise ProviderFailure(
        f"host {link.host.name} has no Java {versions} ({'; '.join(found) or f'none in {where}'}): "
        "install one there, and give `java` in the inventory where it is found in no other way"
    )


def _append(log: Path, output: str) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(output)
