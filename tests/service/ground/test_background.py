"""Work that goes on whatever fails."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from svc_jupyter.service.ground import background
from svc_jupyter.service.ground.background import insist, run_forever
from svc_jupyter.service.ground.errors import Unavailable


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


async def test_a_step_runs_again_until_the_database_is_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(background, "RETRY_SECONDS", 0)
    outcomes: list[Exception | int] = [Unavailable("away"), Unavailable("away"), 7, ValueError("a mistake")]

    async def step() -> int:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    assert await insist(step) == 7
    with pytest.raises(ValueError, match="a mistake"):
        await insist(step)
