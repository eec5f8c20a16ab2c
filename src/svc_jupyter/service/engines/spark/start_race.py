"""The race that a driver of Spark's loses now and then when it starts on YARN: it ends by chance."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure, Say
from svc_jupyter.service.engines.hadoop.causes import last_words

_LOST: Final = "ConcurrentModificationException"
"""What it says when it ends since YARN told it of a filter for its pages in the moment in which they came up."""
_SHOWN: Final = 500
Started = TypeVar("Started")


async def started(start: Callable[[], Awaitable[Started]], name: str, say: Say) -> Started:
    """Start a driver by `start`, once more when it lost the race; return what `start` does. Raises `ClusterFailure`."""
    try:
        return await start()
    except ClusterFailure as failure:
        if _LOST not in failure.message:
            raise
    say(f"starting {name} again: it fell over its own pages")
    return await start()


def last_words_of(output: str) -> str:
    """Return what tells why a driver ended: the line about the race, wherever it stands, else its last words."""
    lost = next((line.strip() for line in reversed(output.splitlines()) if _LOST in line), None)
    return lost[:_SHOWN] if lost else last_words(output)
