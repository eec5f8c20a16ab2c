"""Files for a host as one stream: an archive for `tar`, and sets of files identified by their content."""

from __future__ import annotations

import asyncio
import hashlib
import tarfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.service.ground.remembering import remember

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
