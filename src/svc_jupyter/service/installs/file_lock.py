"""A lock between threads, processes and replicas on one machine, held on a file."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

_LOOK_EVERY = 0.05


@asynccontextmanager
async def file_lock(path: Path, *, shared: bool = False, waits: Callable[[], None] | None = None) -> AsyncIterator[int]:
    """Hold the lock of a file and yield its descriptor; `waits` is called once when another holder has it.

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
