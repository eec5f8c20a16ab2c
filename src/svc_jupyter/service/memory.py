"""Memory that a large request took, given back to the system once it is answered."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from functools import cache

_SECONDS = 1.0
"""Time for the request to be answered, and for others like it to come."""
_waiting: set[asyncio.TimerHandle] = set()


def give_back_soon() -> None:
    """Have the C library give freed memory back, which it would keep for requests as large as the last ones."""
    if _waiting:
        return
    loop = asyncio.get_running_loop()

    def give_back() -> None:
        _waiting.clear()
        loop.run_in_executor(None, _trim())

    _waiting.add(loop.call_later(_SECONDS, give_back))


@cache
def _trim() -> Callable[[], object]:
    """Return glibc's `malloc_trim`, which lets other threads run meanwhile; elsewhere what does nothing."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return (lambda: None) if trim is None else (lambda: trim(0))
