"""Presto's failures in its own words, with the position in the statement and, where it is not obvious, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from svc_jupyter.service.db_taps.failures import QueryFailure, offset_of

_PLACE: Final = re.compile(r"^line \d+:\d+: ")
_STACK: Final = re.compile(r"\n(?:\s+at [\w.$]+|Caused by: |(?:[a-z]\w*\.)+[A-Z]\w*: )")
LOST_WORKER: Final = frozenset(
    {
        "ABANDONED_TASK",
        "NO_NODES_AVAILABLE",
        "PAGE_TRANSPORT_ERROR",
        "PAGE_TRANSPORT_TIMEOUT",
        "REMOTE_HOST_GONE",
        "REMOTE_TASK_ERROR",
        "REMOTE_TASK_MISMATCH",
        "SERVER_SHUTTING_DOWN",
        "TOO_MANY_REQUESTS_FAILED",
    }
)
"""Names of the errors of a query that had work on a lost worker."""
_NO_WORKERS: Final = frozenset({"GENERIC_INSUFFICIENT_RESOURCES", "NO_NODES_AVAILABLE"})
_MEMORY: Final = frozenset({"EXCEEDED_LOCAL_MEMORY_LIMIT", "EXCEEDED_GLOBAL_MEMORY_LIMIT", "CLUSTER_OUT_OF_MEMORY"})


def failure_of(error: Mapping[str, Any], statement: str) -> QueryFailure:
    """Return the failure of a statement, from the `error` of an answer."""
    told = _STACK.split(str(error.get("message") or "the query failed and Presto does not say why"), maxsplit=1)[0]
    message = _PLACE.sub("", told)
    position = None
    place = error.get("errorLocation")
    if place is not None:
        position = offset_of(statement, int(place["lineNumber"]), int(place["columnNumber"]) - 1)
    return QueryFailure(message, position=position, hint=_hint(str(error.get("errorName"))), shows_column=True)


def is_lost_worker(error: Mapping[str, Any]) -> bool:
    """Return whether a query failed because it lost a worker, so that it may succeed when it runs again."""
    return error.get("errorName") in LOST_WORKER


def is_without_workers(error: Mapping[str, Any]) -> bool:
    """Return whether a query found no worker to run on."""
    return error.get("errorName") in _NO_WORKERS


def _hint(name: str) -> str | None:
    if name in _NO_WORKERS:
        return "the cluster has no worker that takes work: see its nodes (GET clusters/ID/state), or add one"
    if name in LOST_WORKER:
        return "a worker ended while the query had work there; run it again"
    if name in _MEMORY:
        return "jvm.max-heap and query.max-memory-per-node in presto_settings.custom_config give a query more memory"
    return None
