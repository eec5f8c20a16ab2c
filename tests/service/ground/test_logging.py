"""Structured logs: a JSON object a line, and never the reason that a request fails."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest
import structlog

from svc_jupyter.service.ground.logging import configure_logging


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_is_a_json_object(monkeypatch: pytest.MonkeyPatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    configure_logging("info")
    log = structlog.get_logger("test")
    log.info("command_ended", command_id=7, status="grün\n")
    log.debug("not shown")
    log.error("failed", exc_info=ValueError("why"))
    first, second = (json.loads(line) for line in file.getvalue().splitlines())
    assert (first["event"], first["command_id"], first["status"], first["level"]) == (
        "command_ended", 7, "grün\n", "info",
    )  # fmt: skip
    assert first["timestamp"].endswith("Z")
    assert "ValueError: why" in second["exception"]


def test_a_full_disk_under_the_log_stops_nobody(monkeypatch: pytest.MonkeyPatch):
    file = open("/dev/full", "w")  # noqa: SIM115  closing it is what must fail
    monkeypatch.setattr(sys, "stderr", file)
    configure_logging("info")
    log = structlog.get_logger("test")
    for number in range(3000):
        log.warning("still_here", number=number)
    monkeypatch.undo()
    with pytest.raises(OSError, match="No space left"):
        file.close()
