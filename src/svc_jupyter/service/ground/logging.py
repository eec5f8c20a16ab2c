"""Structured logs: one JSON object per line on stderr, without secrets: bodies and headers never come here."""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import TextIO

import structlog


def configure_logging(level: str) -> None:
    """Send the service's events and libraries' warnings, from `level` (`debug`, `info` …), to stderr."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=lambda *_: _Lines(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=max(threshold, logging.WARNING), stream=sys.stderr, format="%(levelname)s %(message)s")


class _Lines:
    """Writes one line per event. A log that cannot be written (a full disk, a closed pipe) stops no request."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def msg(self, message: str) -> None:
        """Write a line; failures are ignored."""
        with contextlib.suppress(OSError):
            self._file.write(f"{message}\n")
            self._file.flush()

    debug = info = warning = error = critical = exception = msg
