"""Returns unused memory to the system: glibc keeps much of it for later allocations."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from functools import cache

_SECONDS = 1.0
"""Delay until a request is answered and similar ones have come."""
_waiting: set[asyncio.TimerHandle] = set()


def give_back() -> None:
    """Return freed memory to the system. Blocks only the calling thread."""
    _trim()()


def give_back_soon() -> None:
    """Return the memory of a large request after its answer; glibc would keep it for other large requests."""
    if _waiting:
        return
    loop = asyncio.get_running_loop()

    def now() -> None:
        _waiting.clear()
        loop.run_in_executor(None, give_back)

    _waiting.add(loop.call_later(_SECONDS, now))


@cache
def _trim() -> Callable[[], object]:
    """Return glibc's `malloc_trim`, which lets other threads run; elsewhere a function that does nothing."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return (lambda: None) if trim is None else (lambda: trim(0))
