"""Loops that nothing may end."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from svc_jupyter.service.commands import background
from svc_jupyter.service.commands.background import run_forever
from svc_jupyter.service.errors import Unavailable


async def test_a_loop_goes_on_whatever_its_step_raises(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "RETRY_SECONDS", 0)
    outcomes = [None, Unavailable("away"), ValueError("a mistake"), None]
    done = asyncio.Event()

    async def step() -> None:
        if not outcomes:
            done.set()
            await asyncio.sleep(600)
        if (error := outcomes.pop(0)) is not None:
            raise error

    with capture_logs() as lines:
        loop = asyncio.create_task(run_forever("name", step))
        async with asyncio.timeout(10):
            await done.wait()
        loop.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loop
    assert [(line["event"], line["loop"], line["log_level"]) for line in lines] == [
        ("database_away", "name", "warning"),
        ("loop_failed", "name", "error"),
    ]
