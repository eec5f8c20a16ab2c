"""Messages between the parts of a service, and between replicas on one PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import psycopg
import pytest
import sqlalchemy as sa
from tests.service.conftest import POSTGRESQL
from tests.support.until import until

from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings


def heard_by(bus: Bus, topic: str = "news") -> list[str]:
    heard: list[str] = []
    bus.subscribe(topic, heard.append)
    return heard


@pytest.fixture
async def bus(database: Database) -> AsyncIterator[Bus]:
    bus = Bus(database)
    yield bus
    await bus.stop()


async def test_a_message_comes_after_the_commit(database: Database, bus: Bus):
    heard = heard_by(bus)
    await bus.start()
    heard_inside: list[str] = []

    def work(connection: sa.Connection) -> None:
        bus.publish(connection, "news", "7 cancel")
        heard_inside.extend(heard)

    await database.write(work)
    await until(lambda: "7 cancel" in heard)
    assert "7 cancel" not in heard_inside


async def test_a_transaction_that_fails_sends_nothing(database: Database, bus: Bus):
    heard = heard_by(bus)
    await bus.start()

    def work(connection: sa.Connection) -> None:
        bus.publish(connection, "news", "lost")
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(work)
    await database.write(partial(bus.publish, topic="news", payload="next"))
    await until(lambda: "next" in heard)
    assert "lost" not in heard


async def test_topics_are_heard_apart(bus: Bus):
    heard, other = heard_by(bus), heard_by(bus, "other")
    await bus.start()
    bus.announce("news", "a")
    await until(lambda: "a" in heard)
    assert "a" not in other


async def test_nothing_is_delivered_before_the_start(bus: Bus):
    heard = heard_by(bus)
    bus.announce("news", "early")
    await asyncio.sleep(0)
    assert heard == []


class TestBetweenReplicas:
    @pytest.fixture
    async def other(self, postgres_url: str, settings: Settings) -> AsyncIterator[Bus]:
        """A second replica on the same database."""
        if settings.on_sqlite:
            pytest.fail("replicas share PostgreSQL")
        database = Database(settings)
        bus = Bus(database)
        yield bus
        await bus.stop()
        await asyncio.to_thread(database.close)

    @pytest.fixture(params=[POSTGRESQL])
    def settings(self, request: pytest.FixtureRequest, tmp_path, postgres_url: str) -> Settings:
        return Settings(data_dir=tmp_path, database_url=postgres_url)

    async def test_the_others_hear_it_too(self, database: Database, bus: Bus, other: Bus):
        here, there = heard_by(bus), heard_by(other)
        await bus.start()
        await other.start()
        await until(lambda: here == [""] and there == [""])  # both listen now
        await database.write(partial(bus.publish, topic="news", payload="x y z"))
        await until(lambda: "x y z" in there and here.count("x y z") == 2)

    async def test_after_a_broken_connection_everybody_looks_again(
        self, bus: Bus, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("svc_jupyter.service.database.bus._RECONNECT_SECONDS", 0.05)
        heard = heard_by(bus)
        await bus.start()
        await until(lambda: heard == [""])
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND query LIKE 'LISTEN%'"
            )
        await until(lambda: heard == ["", ""])
