"""How many scripts run at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from svc_jupyter.service.kinds.pig.jvms import Slots

A, B, C, D = (Path(name) for name in "abcd")


async def asked(places: Slots, holder: Path, said: list[str]) -> asyncio.Task[None]:
    """Return a request for a place that has been made."""
    task = asyncio.create_task(places.take(holder, said.append))
    await asyncio.sleep(0)
    return task


async def test_who_finds_no_place_waits_and_is_reported():
    places, said = Slots(2), []
    for holder in (A, B):
        await places.take(holder, said.append)
    assert said == []

    third = await asked(places, C, said)
    assert said == ["waiting for a free Pig JVM (2 of 2 in use)"]
    assert not third.done()
    places.leave(A)

    await asyncio.wait_for(third, 5)


async def test_places_are_given_in_the_order_of_coming():
    places, said = Slots(1), []
    await places.take(A, said.append)
    second, third = await asked(places, B, said), await asked(places, C, said)

    places.leave(A)
    await asyncio.wait_for(second, 5)
    assert not third.done()
    places.leave(B)
    await asyncio.wait_for(third, 5)


async def test_who_gives_up_waiting_holds_nobody_up():
    places, said = Slots(1), []
    await places.take(A, said.append)
    second, third = await asked(places, B, said), await asked(places, C, said)

    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    places.leave(B)  # it has none
    assert not third.done()
    places.leave(A)

    await asyncio.wait_for(third, 5)


async def test_scripts_that_outlived_the_service_count_even_beyond_the_limit():
    places, said = Slots(1), []
    places.keep(A)
    places.keep(B)
    third = await asked(places, C, said)

    places.leave(A)
    await asyncio.sleep(0)
    assert not third.done()
    assert said == ["waiting for a free Pig JVM (2 of 1 in use)"]
    places.leave(B)

    await asyncio.wait_for(third, 5)
