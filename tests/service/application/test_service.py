"""The parts of a service begin and stop together, also where one of them cannot begin."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from svc_jupyter.service.application.app import create_app
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.clusters.driver import Driver
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.hive.hive import Hive
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.packages.builder import Builder
from svc_jupyter.service.schedules.ticker import Ticker
from svc_jupyter.service.schema.commands import replicas

PARTS = (Bus, Hive, Runner, Driver, Builder, Notifications, Ticker)


async def refuse(_part: object) -> None:
    raise OSError("no room for this part")


def lease_ends(settings: Settings) -> list[float]:
    database = Database(settings)
    try:
        with database.connect() as connection:
            return list(connection.execute(sa.select(replicas.c.lease_until)).scalars())
    finally:
        database.close()


@pytest.mark.parametrize("part", PARTS)
async def test_a_part_that_cannot_begin_leaves_nothing_running(
    settings: Settings, part: type, monkeypatch: pytest.MonkeyPatch
):
    service = Service.of(settings)
    service.prepare()
    monkeypatch.setattr(part, "start", refuse)
    with pytest.raises(OSError, match="no room for this part"):
        await service.start()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    if PARTS.index(part) > PARTS.index(Runner):
        [until] = lease_ends(settings)
        assert until > time.time() + settings.lease_seconds  # as a service leaves that stops in good order
    await service.stop()


async def test_a_part_that_cannot_stop_keeps_no_other_from_stopping(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    service = Service.of(settings)
    service.prepare()
    driver = service.parts[Driver]
    stop = driver.stop

    async def fail() -> None:
        await stop()
        raise OSError("something of this part is in the way")

    monkeypatch.setattr(driver, "stop", fail)
    await service.start()
    with pytest.raises(OSError, match="in the way"):
        await service.stop()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_application_whose_database_cannot_be_prepared_closes_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    closed: list[Database] = []
    close = Database.close

    def note_close(database: Database) -> None:
        closed.append(database)
        close(database)

    def fail(*_arguments: Any) -> None:
        raise RuntimeError("made by a newer version")

    monkeypatch.setattr(Database, "close", note_close)
    monkeypatch.setattr("svc_jupyter.service.application.service.migrations.upgrade", fail)
    service = Service.of(settings)
    app = create_app(service)
    with pytest.raises(RuntimeError, match="newer version"):
        await app.router.lifespan_context(app).__aenter__()
    assert closed == [service.database]


async def test_a_message_names_the_path_as_its_caller_wrote_it(settings: Settings):
    transport = httpx.ASGITransport(create_app(Service.of(settings)))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answers = {version: await client.get(f"/api/{version}/nothing/at/all") for version in ("v1.2", "latest", "v9")}
    found = {
        version: (answer.status_code, answer.json()["error"]["error_message"]) for version, answer in answers.items()
    }
    assert found == {version: (404, f"there is nothing at /api/{version}/nothing/at/all") for version in answers}


async def test_no_route_is_built_by_a_first_request(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    app = create_app(Service.of(settings))
    built: list[dict[str, Any]] = []
    monkeypatch.setattr("fastapi.routing.get_dependant", lambda **facts: built.append(facts))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        await client.get("/api/v1.2/nothing")
    assert not built
