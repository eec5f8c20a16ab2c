"""A file in Jupyter's data folder that names this server, and by which its processes wait for each other.

Two processes of one user may serve the same folder. The one that removes unused copies must not take one that the
other has stored and no schedule names yet.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from pathlib import Path

from tornado.web import HTTPError

_ID_BYTES = 16
_NAME_LENGTH = 12
_LOOK_EVERY = 0.05


class CopiesFile:
    """The file of one user's servers; `root` is where this server's paths begin.

    Every method raises `HTTPError` 503 when the file cannot be used.
    """

    def __init__(self, file: Path, root: str) -> None:
        self._file = file
        self._root = root
        self._server: str | None = None

    async def server(self) -> str:
        """Return the name of this server, the same for every process that serves this folder to this user."""
        if self._server is None:
            async with self._locked(fcntl.LOCK_EX) as descriptor:
                with _told():
                    machine = _kept_id(descriptor)
            self._server = sha256(f"{machine}\n{self._root}".encode()).hexdigest()[:_NAME_LENGTH]
        return self._server

    @asynccontextmanager
    async def in_the_making(self) -> AsyncIterator[None]:
        """While this is held no process removes copies; several may hold it at once."""
        async with self._locked(fcntl.LOCK_SH):
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """While this is held no process stores a copy for what does not name it yet."""
        async with self._locked(fcntl.LOCK_EX):
            yield

    @asynccontextmanager
    async def _locked(self, kind: int) -> AsyncIterator[int]:
        """Hold the file's lock, which a killed holder gives back, and yield its descriptor."""
        with _told():
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _took(descriptor, kind):  # noqa: ASYNC110 - it is other processes that are waited for
                await asyncio.sleep(_LOOK_EVERY)
            yield descriptor
        finally:
            os.close(descriptor)


def _took(descriptor: int, kind: int) -> bool:
    with _told():
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise
            return False
    return True


def _kept_id(descriptor: int) -> str:
    """Return what a locked file holds; what it is to hold from now on where it is new."""
    kept = os.pread(descriptor, 2 * _ID_BYTES, 0).decode("ascii", "replace")
    if len(kept) == 2 * _ID_BYTES:
        return kept
    made = secrets.token_hex(_ID_BYTES)
    os.pwrite(descriptor, made.encode(), 0)
    return made


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HTTPError(
            503,
            f"what tells this server's scheduled copies from others cannot be kept in Jupyter's data folder ({error}): "
            "see that it is writable and has room, then try again",
        ) from error
