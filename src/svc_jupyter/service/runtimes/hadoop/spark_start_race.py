"""A race in which a Spark driver that starts on YARN sometimes ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.runtimes.hadoop.causes import last_words

_LOST: Final = "ConcurrentModificationException"
"""Its error when YARN sends it a filter for its web pages at the moment they start."""
_SHOWN: Final = 500
Started = TypeVar("Started")


async def started(start: Callable[[], Awaitable[Started]], name: str, say: Say) -> Started:
    """Start a driver by `start`, with one retry after the race; return its result. Raises `ClusterFailure`."""
    try:
        return await start()
    except ClusterFailure as failure:
        if _LOST not in failure.message:
            raise
    say(f"starting {name} again: it fell over its own pages")
    return await start()


def last_words_of(output: str) -> str:
    """Return the line that explains a driver's end: the one about the race, or else the last meaningful one."""
    lost = next((line.strip() for line in reversed(output.splitlines()) if _LOST in line), None)
    return lost[:_SHOWN] if lost else last_words(output)
