"""A file in Jupyter's data folder that identifies this server and serves as a lock between its processes.

Two processes of one user may serve the same folder. The one that removes unused copies must not remove a copy that the
other has just stored and that no schedule names yet.
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
    """The file of one user's servers; `root` is the root folder of this server's paths.

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
                with _readable_errors():
                    machine = _kept_id(descriptor)
            self._server = sha256(f"{machine}\n{self._root}".encode()).hexdigest()[:_NAME_LENGTH]
        return self._server

    @asynccontextmanager
    async def in_the_making(self) -> AsyncIterator[None]:
        """Shared lock: while it is held, no process removes copies."""
        async with self._locked(fcntl.LOCK_SH):
            yield

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Exclusive lock: while it is held, no process stores a copy that nothing names yet."""
        async with self._locked(fcntl.LOCK_EX):
            yield

    @asynccontextmanager
    async def _locked(self, kind: int) -> AsyncIterator[int]:
        """Hold the file's lock and yield its descriptor; the lock of a killed process is released."""
        with _readable_errors():
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while not _took(descriptor, kind):  # noqa: ASYNC110 - it is other processes that are waited for
                await asyncio.sleep(_LOOK_EVERY)
            yield descriptor
        finally:
            os.close(descriptor)


def _took(descriptor: int, kind: int) -> bool:
    with _readable_errors():
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                raise
            return False
    return True


def _kept_id(descriptor: int) -> str:
    """Return the id in a locked file; write a new one if there is none."""
    kept = os.pread(descriptor, 2 * _ID_BYTES, 0).decode("ascii", "replace")
    if len(kept) == 2 * _ID_BYTES:
        return kept
    made = secrets.token_hex(_ID_BYTES)
    os.pwrite(descriptor, made.encode(), 0)
    return made


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HTTPError(
            503,
            f"the list of this server's scheduled copies cannot be kept in Jupyter's data folder ({error}): "
            "see that it is writable and has room, then try again",
        ) from error
