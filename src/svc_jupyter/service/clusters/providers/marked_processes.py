"""Processes of clusters on this machine, found by marks in their environment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePath

import psutil

from svc_jupyter.service.processes.marks import environment_mark

DAEMON_MARK = "SVC_CLUSTER_DAEMON"
"""The daemon's folder; inherited by processes that it starts with the same environment."""
_DYING_SECONDS = 10.0
_LOOK_EVERY = 0.02
_EMPTY_LOOKS = 2


def marked(mark: str, value: PurePath) -> Iterator[psutil.Process]:
    """Yield the living processes that carry a mark with this value."""
    wanted = str(value)
    for process in psutil.process_iter():
        if environment_mark(process, mark) == wanted:
            yield process


async def end_marked(mark: str, value: PurePath) -> bool:
    """Kill all processes with a mark until none is left; return False when one does not die.

    Requires two consecutive empty scans: a process may have started another one meanwhile, and while it executes a new
    program, its environment cannot be read for an instant.
    """
    deadline = time.monotonic() + _DYING_SECONDS
    empty_looks = 0
    while empty_looks < _EMPTY_LOOKS:
        left = await asyncio.to_thread(lambda: list(marked(mark, value)))
        empty_looks = 0 if left else empty_looks + 1
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(_LOOK_EVERY)
    return True
