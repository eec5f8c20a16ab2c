"""The store of downloaded files: each content once, by its sha256, hard-linked into the engines that use it."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from svc_jupyter.service.installs.lock import Artifact

_CHUNK = 1 << 20
_CANNOT_LINK = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP}


class Store:
    """`files/<sha256>` are complete and verified; `parts/<sha256>` are the received parts of downloads."""

    def __init__(self, folder: Path) -> None:
        self._files = folder / "files"
        self._parts = folder / "parts"

    def make_folders(self) -> None:
        """Make the folders; raises `OSError`."""
        for folder in (self._files, self._parts):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def path(self, artifact: Artifact) -> Path:
        """Return the path of the verified file, which may not exist yet."""
        return self._files / artifact.sha256

    def part(self, artifact: Artifact) -> Path:
        """Return the path of the file while it arrives."""
        return self._parts / artifact.sha256

    def missing(self, artifacts: Iterable[Artifact]) -> list[Artifact]:
        """Return the missing or incomplete files, having read all; removes damaged ones (as after a power cut)."""
        return [artifact for artifact in artifacts if not self._has(artifact)]

    def link(self, artifact: Artifact, target: Path) -> None:
        """Put the file at `target`: as a hard link, or as a copy if the file system has none; raises `OSError`."""
        try:
            os.link(self.path(artifact), target)
        except OSError as error:
            if error.errno not in _CANNOT_LINK:
                raise
            shutil.copyfile(self.path(artifact), target)

    def prune(self) -> int:
        """Remove parts, and the files that no installation uses any more; return the freed bytes."""
        freed = 0
        for file in (*_files_of(self._files), *_files_of(self._parts)):
            status = file.stat()
            if status.st_nlink == 1:
                freed += status.st_size
                file.unlink(missing_ok=True)
        return freed

    def _has(self, artifact: Artifact) -> bool:
        file = self.path(artifact)
        if not file.is_file():
            return False
        if file.stat().st_size == artifact.size and digest_of(file) == artifact.sha256:
            return True
        file.unlink(missing_ok=True)
        return False


def digest_of(file: Path) -> str:
    """Return the sha256 of a file's content; raises `OSError`."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def digest_so_far(descriptor: int) -> tuple[hashlib._Hash, int]:
    """Return the running digest of a file's existing content, and its length; leaves the position at its end."""
    digest = hashlib.sha256()
    length = os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, _CHUNK):
        digest.update(chunk)
        length += len(chunk)
    return digest, length


def _files_of(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []


_LOOK_EVERY = 0.05


@asynccontextmanager
async def file_lock(path: Path, *, shared: bool = False, waits: Callable[[], None] | None = None) -> AsyncIterator[int]:
    """Hold a file's lock, for all processes of this machine, and yield its descriptor.

    `waits` is called once when another holder has it.

    The file stays afterwards: removing it would allow two holders. The lock of a killed holder is free at once.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        while not _take(descriptor, kind):
            if waits is not None:
                waits()
                waits = None
            await asyncio.sleep(_LOOK_EVERY)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EINTR):
            return False
        raise
    return True
