"""Waiting for the end of a command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from svc_jupyter.service.commands.ends import ENDED, Ends
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings


@pytest.fixture
async def bus(tmp_path) -> AsyncIterator[Bus]:
    database = Database(Settings(data_dir=tmp_path))
    bus = Bus(database)
    await bus.start()
    yield bus
    await bus.stop()
    await asyncio.to_thread(database.close)


async def test_everybody_who_waits_is_reported(bus: Bus):
    ends = Ends(bus)
    waiting = [asyncio.ensure_future(ends.wait(7, 10)) for _ in range(3)]
    other = asyncio.ensure_future(ends.wait(8, 0.2))
    await asyncio.sleep(0)
    bus.announce(ENDED, "7")
    assert await asyncio.gather(*waiting) == [True] * 3
    assert await other is False


async def test_an_announcement_of_nothing_in_particular_wakes_everybody(bus: Bus):
    ends = Ends(bus)
    waiting = [asyncio.ensure_future(ends.wait(command_id, 10)) for command_id in (7, 8)]
    await asyncio.sleep(0)
    bus.announce(ENDED)
    assert await asyncio.gather(*waiting) == [True, True]


async def test_waiters_can_be_let_go(bus: Bus):
    ends = Ends(bus)
    waiting = asyncio.ensure_future(ends.wait(7, 10))
    await asyncio.sleep(0)
    ends.wake_all()
    assert await waiting is True


async def test_nothing_is_kept_of_those_who_stopped_waiting(bus: Bus):
    ends = Ends(bus)
    assert await ends.wait(7, 0) is False
    waiting = asyncio.ensure_future(ends.wait(8, 10))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not ends._waiting
