"""The ticker over a real database and bus: when it wakes, what holds it up and what does not, and what it survives."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
import sqlalchemy as sa
from tests.service.conftest import ON_POSTGRESQL
from tests.service.schedules.simulation import Row, Simulation
from tests.support.until import until

from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.service_lease import ServiceLease
from svc_jupyter.service.macros.sandbox import MacroEngineError
from svc_jupyter.service.schedules import beginnings
from svc_jupyter.service.schedules.dependencies import Needed
from svc_jupyter.service.schedules.materialisation import TICK
from svc_jupyter.service.schedules.ticker import LEASE, Ticker
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import actions, schedules, service_leases
from svc_jupyter.service.storage.failures import StorageFailure

HOUR = 3600.0
LOOPING = [{"x": "(() => { while (true) {} })()"}]
WAITS = {"files": [{"path": "landing/%Y-%m-%d"}]}
on_sqlite = pytest.mark.parametrize("database_kind", ["sqlite"])


class Store:
    """Where dependencies are looked up: what is there, and whether it answers."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.is_away = False

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        del account_id
        if self.is_away:
            raise StorageFailure("the store does not answer", may_retry=True)
        return {item for item in keys if item.key in self.there}


class Clock:
    """The real clock, which can be set."""

    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        return time.time() + self.offset


class Stage:
    """Tickers on one database; commands are rows that end when the test says so."""

    def __init__(self, database: Database, account_id: int) -> None:
        self.database = database
        self.bus = Bus(database)
        self.clock = Clock()
        self.store = Store()
        self.simulation = Simulation(database, account_id, duration=1e9, bus=self.bus)
        self.now = self.simulation.now = float(int(time.time()))
        self._running = AsyncExitStack()

    async def ticker(self, lease: ServiceLease | None = None) -> Ticker:
        """Start a ticker, which is stopped at the end."""
        made = Ticker(self.database, self.bus, self.simulation.work, self.store, self.clock, lease)
        self._running.push_async_callback(made.stop)
        await made.start()
        return made

    async def close(self) -> None:
        await self._running.aclose()
        await self.bus.stop()

    def add(self, **values: Any) -> int:
        given = {"start": self.now, "frequency": 1, "time_unit": "hours", **values}
        return self.simulation.add(**given)

    def look(self) -> None:
        """Let the tickers look: what happens in another process is announced by it."""
        self.bus.announce(TICK)

    async def until(self, schedule_id: int, condition: Callable[[list[Row]], Any], seconds: float = 15.0) -> list[Row]:
        """Return the schedule's actions once they are as wanted."""
        await until(lambda: condition(self.simulation.actions(schedule_id)), seconds)
        return self.simulation.actions(schedule_id)

    def change(self, table: sa.Table, row_id: int, **values: Any) -> None:
        with self.database.begin(durable=False) as connection:
            connection.execute(sa.update(table).where(table.c.id == row_id).values(**values))


@pytest.fixture
async def stage(database: Database, account_id: int) -> AsyncIterator[Stage]:
    made = Stage(database, account_id)
    await made.bus.start()
    yield made
    await made.close()


def begun(found: list[Row]) -> list[Row]:
    return [action for action in found if action["command_id"] is not None]


async def test_an_action_that_cannot_be_ended_keeps_no_other_from_its_end(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Found again after a crash: their commands have ended, and nobody took note of it."""
    first, second = stage.add(), stage.add()
    ticker = await stage.ticker()
    broken, *_ = [(await stage.until(schedule, begun))[0]["command_id"] for schedule in (first, second)]
    await ticker.stop()
    with stage.database.begin() as connection:
        connection.execute(sa.update(commands).values(status="done", end_time=stage.now))
    command_ended = stage.simulation.work.command_ended

    def fail_for_one(connection: sa.Connection, command: Row, now: float) -> None:
        if command["id"] == broken:
            raise KeyError("a mistake")
        command_ended(connection, command, now)

    monkeypatch.setattr(stage.simulation.work, "command_ended", fail_for_one)
    await stage.ticker()
    await stage.until(second, lambda found: found[0]["done"])
    assert not stage.simulation.actions(first)[0]["done"]
    assert "action_not_ended" in "".join(capsys.readouterr())


@pytest.mark.both_databases
async def test_it_wakes_when_something_is_due_and_sleeps_in_between(stage: Stage, count_statements: list[str]):
    first, second = stage.add(start=stage.now + 1.3), stage.add(start=stage.now + 2.6)
    await stage.ticker()
    [action] = await stage.until(first, begun)
    assert action["created_at"] >= action["nominal_time"]
    count_statements.clear()
    asked: list[str] = []
    await until(lambda: stage.clock() > stage.now + 2.5)  # nothing but time passes
    asked += count_statements
    [action] = await stage.until(second, begun)
    assert action["created_at"] >= action["nominal_time"]
    # On PostgreSQL it keeps its lease meanwhile.
    assert len(asked) <= (3 if stage.database.on_sqlite else 12), asked


@on_sqlite
async def test_macros_that_loop_hold_up_no_other_schedule(stage: Stage):
    looping = stage.add(start=stage.now - 5 * HOUR, macros=LOOPING, concurrency=5)
    good = stage.add(macros=[{"day": "Service_nominal_time.format('YYYY')"}])
    await stage.ticker()
    await stage.until(good, begun)
    assert sum(action["done"] for action in stage.simulation.actions(looping)) <= 1
    refused = await stage.until(looping, lambda found: any(action["done"] for action in found))
    reasons = {action["message"] for action in refused if action["done"]}
    assert reasons == {"not run: macro 'x': all macros together took more than 1 s of processor time"}
    # Whoever is told of ends is told of this one.
    assert (stage.simulation.ended[0][0].id, stage.simulation.ended[0][1].status) == (looping, "error")
    later = stage.add(macros=[{"day": "1"}])
    stage.look()
    await stage.until(later, begun)


@pytest.fixture
def macros_may_be_resolved(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Macros are resolved once this event is set."""
    real, event = beginnings.resolve, threading.Event()

    def resolve(*arguments: Any) -> Any:
        event.wait(60)
        return real(*arguments)

    monkeypatch.setattr(beginnings, "resolve", resolve)
    yield event
    event.set()


async def test_an_edit_in_the_middle_of_resolving_counts(stage: Stage, macros_may_be_resolved: threading.Event):
    schedule = stage.add(macros=[{"x": "1"}])
    await stage.ticker()
    await stage.until(schedule, bool)
    stage.change(schedules, schedule, macros=[{"x": "1 + 1"}], command={"inline": "echo $x$"})
    macros_may_be_resolved.set()
    [action] = await stage.until(schedule, begun)
    with stage.database.connect() as connection:
        query = sa.text("SELECT command, resolved_macros FROM commands WHERE id = :id").columns(
            command=sa.JSON, resolved_macros=sa.JSON
        )
        command, resolved = connection.execute(query, {"id": action["command_id"]}).one()
    assert (command, resolved) == ({"inline": "echo $x$"}, [{"x": 2}])


async def test_a_dependency_is_waited_for_until_time_out(stage: Stage):
    waiting = stage.add(start=stage.now - HOUR, dependency_info=WAITS, time_out=10)
    await stage.ticker()
    found = await stage.until(waiting, lambda found: len(found) == 2 and all(a["dependencies"] for a in found))
    assert [action["status"] for action in found] == ["waiting", "waiting"]
    stage.clock.offset = 601
    stage.look()
    found = await stage.until(waiting, lambda found: all(action["done"] for action in found[:2]))
    assert [action["status"] for action in found[:2]] == ["not_found", "not_found"]
    day = time.strftime("%Y-%m-%d", time.gmtime(found[0]["nominal_time"]))
    assert found[0]["message"] == f"dependencies not found within 10 min: landing/{day}"
    assert found[0]["dependencies"] == {"found": [], "not_found": [f"landing/{day}"]}


async def test_a_store_that_is_away_is_reported_in_the_record_and_asked_again(stage: Stage):
    stage.store.is_away = True
    waiting = stage.add(dependency_info=WAITS)
    await stage.ticker()
    [action] = await stage.until(waiting, lambda found: found and found[0]["message"])
    assert (action["status"], action["message"]) == ("waiting", "the store does not answer")
    stage.store.there = set(action["dependencies"]["not_found"])
    stage.store.is_away = False
    [action] = await stage.until(waiting, begun)
    assert (len(action["dependencies"]["found"]), action["dependencies"]["not_found"]) == (1, [])
    assert action["message"] is None


async def test_a_clock_that_is_set_forward_or_back_leaves_nothing_behind(stage: Stage):
    schedule = stage.add()
    await stage.ticker()
    [first] = await stage.until(schedule, begun)
    stage.clock.offset = HOUR
    stage.look()
    await stage.until(schedule, lambda found: len(found) == 2)
    # Before the ticker can look at what the end of the first calls for, the clock is set back.
    stage.simulation.now = stage.now + HOUR
    stage.simulation.end_command(first["command_id"])
    stage.clock.offset = -HOUR
    stage.look()
    found = await stage.until(schedule, lambda found: len(begun(found)) == 2)
    assert [action["nominal_time"] for action in found] == [stage.now, stage.now + HOUR]


async def test_a_run_begins_after_a_temporary_failure_to_resolve_its_macros(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    real, refused = beginnings.resolve, []

    def busy_once(*arguments: Any) -> Any:
        if not refused:
            refused.append(arguments)
            raise MacroEngineError("no macro engine was free")
        return real(*arguments)

    monkeypatch.setattr(beginnings, "resolve", busy_once)
    schedule = stage.add(macros=[{"x": "1"}])
    await stage.ticker()
    await stage.until(schedule, begun)
    assert len(refused) == 1


@ON_POSTGRESQL
async def test_broken_connections_stop_it_for_a_moment_only(stage: Stage):
    first, second = stage.add(), stage.add(start=stage.now + 2)
    await stage.ticker()
    await stage.until(first, begun)
    with stage.database.begin() as connection:
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        connection.execute(sa.text(f"{query} AND pid <> pg_backend_pid()"))
    await stage.until(second, begun)


@ON_POSTGRESQL
async def test_a_row_that_somebody_holds_is_not_asked_for_over_and_over(stage: Stage, count_statements: list[str]):
    held, other = stage.add(start=stage.now + HOUR), stage.add(start=stage.now + HOUR)
    with stage.database.begin() as connection:
        connection.execute(sa.select(schedules.c.id).where(schedules.c.id == held).with_for_update())
        stage.clock.offset = HOUR + 1
        await stage.ticker()
        await stage.until(other, begun)
        asked = len(count_statements)
        await until(lambda: stage.clock() > stage.now + HOUR + 3)
        assert len(count_statements) - asked < 100
    await stage.until(held, begun)


@ON_POSTGRESQL
async def test_one_of_two_ticks_and_the_other_takes_over_when_it_stops(stage: Stage):
    def holder() -> str | None:
        with stage.database.connect() as connection:
            return connection.execute(sa.select(service_leases.c.replica_id)).scalar()

    first = await stage.ticker(ServiceLease(LEASE, 60))
    await until(holder)
    first_id = holder()
    await stage.ticker(ServiceLease(LEASE, 60))
    schedule = stage.add()
    stage.look()
    await stage.until(schedule, begun)
    assert holder() == first_id
    # Without a stop its lease would hold for a minute.
    await first.stop()
    await until(lambda: holder() not in (None, first_id))
    schedule = stage.add()
    stage.look()
    await stage.until(schedule, begun)


@ON_POSTGRESQL
async def test_another_takes_over_from_one_that_is_gone(stage: Stage):
    lease = ServiceLease(LEASE, 60)
    with stage.database.begin() as connection:
        assert lease.hold(connection)  # and never again
    schedule = stage.add()
    second = ServiceLease(LEASE, 60)
    with stage.database.begin() as connection:
        assert not second.hold(connection)
        connection.execute(sa.update(service_leases).values(until=service_leases.c.until - 120))
    await stage.ticker(second)
    await stage.until(schedule, begun)
    with stage.database.begin() as connection:
        assert not lease.hold(connection)


@pytest.mark.both_databases
@pytest.mark.usefixtures("macros_may_be_resolved")
async def test_it_stops_in_the_middle_of_anything(stage: Stage):
    stage.add(macros=[{"x": "1"}])
    waiting = stage.add(dependency_info=WAITS)
    ticker = await stage.ticker()
    await stage.until(waiting, bool)
    async with asyncio.timeout(10):
        await ticker.stop()
    with stage.database.connect() as connection:
        assert set(connection.execute(sa.select(actions.c.done)).scalars()) == {False}
