"""The figures of this process: what it answered and which commands it ended, since its start."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Final

import sqlalchemy as sa
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)

from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.database import Database

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ANSWER_SECONDS = (0.005, 0.025, 0.1, 0.5, 2.5, 10, 60)
_COMMAND_SECONDS = (0.1, 1, 10, 60, 600, 3600, 21_600, 86_400)
_OTHER = "other"
"""The label of what callers can name freely: there must be no label per path or method of a caller."""


class Figures:
    """Counts requests and the ends of commands; all metrics are in `registry`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.registry = CollectorRegistry()
        # For the whole process: the times of creation would double the text.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        ProcessCollector(registry=self.registry)
        Info("svc", "The version of this process", registry=self.registry).info({"version": version("svc-jupyter")})
        self._requests = Counter(
            "svc_http_requests",
            "Requests that this process answered, by the template of their route",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._answer_seconds = Histogram(
            "svc_http_answer_seconds",
            "Seconds until this process began an answer; with `wait`, the caller's wait is included",
            ["method", "route"],
            buckets=_ANSWER_SECONDS,
            registry=self.registry,
        )
        self._streams = Gauge(
            "svc_event_streams_open", "Event streams that this process has open", registry=self.registry
        )
        self._ended = Counter(
            "svc_commands_ended",
            "Commands whose end this process wrote",
            ["command_type", "status"],
            registry=self.registry,
        )
        self._wait_seconds = Histogram(
            "svc_command_wait_seconds",
            "Seconds from the submission to the start of the commands that this process ended",
            ["command_type"],
            buckets=_COMMAND_SECONDS,
            registry=self.registry,
        )
        self._run_seconds = Histogram(
            "svc_command_run_seconds",
            "Seconds from the start to the end of the commands that this process ended, retries included",
            ["command_type"],
            buckets=_COMMAND_SECONDS,
            registry=self.registry,
        )

    def answered(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count a request; `route` is the template of its route, None where none matched."""
        method = method if method in _METHODS else _OTHER
        route = route or _OTHER
        self._requests.labels(method, route, status).inc()
        self._answer_seconds.labels(method, route).observe(seconds)

    def stream_opened(self) -> None:
        """Count an event stream as open."""
        self._streams.inc()

    def stream_closed(self) -> None:
        """Count an event stream as closed."""
        self._streams.dec()

    def on_command_end(self, connection: sa.Connection, row: CommandRow) -> None:
        """Count the end of a command once its transaction is committed."""
        self._database.after_commit(connection, partial(self._command_ended, row))

    def _command_ended(self, row: CommandRow) -> None:
        self._ended.labels(row.command_type, str(row.status)).inc()
        if row.start_time is None:
            return  # cancelled before it began
        self._wait_seconds.labels(row.command_type).observe(max(0.0, row.start_time - row.created_at))
        if row.end_time is not None:
            self._run_seconds.labels(row.command_type).observe(max(0.0, row.end_time - row.start_time))
