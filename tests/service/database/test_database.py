"""Transactions that share a commit, and what happens to them when one fails or the database goes away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from tests.service.conftest import ON_POSTGRESQL

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.database.errors import is_away, is_held_up, translated
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schema.access import accounts


def insert(account: int, connection: sa.Connection) -> int:
    connection.execute(sa.insert(accounts).values(id=account, name="a", features={}))
    return account


@pytest.mark.both_databases
def test_a_stored_value_that_is_no_unicode_spoils_no_list(database: Database):
    with database.begin() as connection:
        for number, features in enumerate(({"a": "\ud800", "\udfff": ["\ud83d\ude00"]}, {"b": "ü😀"}), start=1):
            connection.execute(sa.insert(accounts).values(id=number, name="a", features=features))
    with database.connect() as connection:
        found = connection.execute(sa.select(accounts.c.features).order_by(accounts.c.id)).scalars().all()
    assert found == [{"a": "\ufffd", "\ufffd": ["😀"]}, {"b": "ü😀"}]


def ids(database: Database) -> list[int]:
    with database.connect() as connection:
        return list(connection.execute(sa.select(accounts.c.id).order_by(accounts.c.id)).scalars())


@pytest.fixture
def count_commits(database: Database) -> list[str]:
    commits: list[str] = []
    sa.event.listen(database.engine, "commit", lambda _connection: commits.append("commit"))
    return commits


async def held_up(database: Database, works: list[Callable[[sa.Connection], Any]]) -> list[Any]:
    """Give several works to `write` while its thread is busy, so that they are committed together."""
    begun, go_on = threading.Event(), threading.Event()

    def hold(_connection: sa.Connection) -> None:
        begun.set()
        assert go_on.wait(10)

    holding = asyncio.ensure_future(database.write(hold))
    await asyncio.to_thread(begun.wait, 10)
    waiting = [asyncio.ensure_future(database.write(work)) for work in works]
    await asyncio.sleep(0)
    go_on.set()
    await holding
    return await asyncio.gather(*waiting, return_exceptions=True)


@pytest.mark.both_databases
async def test_writes_that_wait_are_committed_together(database: Database, count_commits: list[str]):
    assert await held_up(database, [partial(insert, number) for number in range(1, 51)]) == list(range(1, 51))
    assert ids(database) == list(range(1, 51))
    assert len(count_commits) == 2


@pytest.mark.both_databases
async def test_a_write_that_fails_fails_alone(database: Database):
    outcomes = await held_up(database, [partial(insert, 1), partial(insert, 1), partial(insert, 2)])
    assert outcomes[0] == 1
    assert isinstance(outcomes[1], IntegrityError)
    assert outcomes[2] == 2
    assert ids(database) == [1, 2]


async def test_an_exception_in_a_write_is_raised_to_its_caller(database: Database):
    def refuse(connection: sa.Connection) -> None:
        insert(1, connection)
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        await database.write(refuse)
    assert ids(database) == []


@pytest.mark.both_databases
async def test_an_after_commit_function_runs_once_and_only_after_the_commit(database: Database):
    told: list[list[int]] = []

    def work(account: int, connection: sa.Connection) -> None:
        insert(account, connection)
        database.after_commit(connection, lambda: told.append(ids(database)))

    outcomes = await held_up(database, [partial(work, 1), partial(work, 1), partial(work, 2)])
    assert isinstance(outcomes[1], IntegrityError)
    assert told == [[1], [1, 2]]


async def test_a_listener_that_is_gone_does_not_undo_or_repeat_the_commit(database: Database):
    def work(connection: sa.Connection) -> int:
        def tell() -> None:
            raise RuntimeError("Event loop is closed")

        database.after_commit(connection, tell)
        return insert(1, connection)

    assert await database.write(work) == 1
    assert ids(database) == [1]


@pytest.mark.parametrize("group", [1, 5])
async def test_a_commit_that_lost_its_connection_is_not_repeated(database: Database, group: int):
    """It may have taken place: doing it again would run a command twice."""
    runs: list[int] = []

    def work(number: int, connection: sa.Connection) -> None:
        runs.append(number)
        if number == group - 1:
            raise OperationalError("COMMIT", {}, Exception("server closed the connection"), connection_invalidated=True)

    outcomes = await held_up(database, [partial(work, number) for number in range(group)])
    assert [type(outcome) for outcome in outcomes] == [DatabaseAway] * group
    assert runs == list(range(group))


async def test_once_the_database_is_away_the_rest_of_a_group_need_not_find_out_each(database: Database):
    runs: list[int] = []

    def work(number: int, _connection: sa.Connection) -> None:
        runs.append(number)
        raise OperationalError("SELECT", {}, Exception("could not connect"))

    outcomes = await held_up(database, [partial(work, number) for number in range(100)])
    assert [type(outcome) for outcome in outcomes] == [DatabaseAway] * 100
    assert runs == [0, 0]


@ON_POSTGRESQL
async def test_a_write_that_waits_too_long_for_a_lock_fails_alone(database: Database):
    """On SQLite one writer at a time has the whole file."""
    await database.write(partial(insert, 1))

    def wait_for_the_lock(connection: sa.Connection) -> None:
        connection.execute(sa.text("SET LOCAL lock_timeout = '50ms'"))
        connection.execute(sa.select(accounts.c.id).where(accounts.c.id == 1).with_for_update())

    with database.begin() as holder:
        holder.execute(sa.select(accounts.c.id).where(accounts.c.id == 1).with_for_update())
        outcomes = await held_up(database, [partial(insert, 2), wait_for_the_lock, partial(insert, 3)])
    assert (outcomes[0], outcomes[2]) == (2, 3)
    assert isinstance(outcomes[1], DatabaseAway)
    assert "others held this up" in outcomes[1].message
    assert ids(database) == [1, 2, 3]


@ON_POSTGRESQL
async def test_a_write_that_takes_too_long_fails_alone(database: Database):
    def take_long(connection: sa.Connection) -> None:
        connection.execute(sa.text("SET LOCAL statement_timeout = '50ms'"))
        connection.execute(sa.text("SELECT pg_sleep(60)"))

    outcomes = await held_up(database, [partial(insert, 1), take_long, partial(insert, 2)])
    assert (outcomes[0], outcomes[2]) == (1, 2)
    assert isinstance(outcomes[1], DatabaseAway)


async def test_a_mistake_in_what_follows_a_commit_repeats_and_fails_nothing(
    database: Database, capsys: pytest.CaptureFixture[str]
):
    runs: list[int] = []
    told: list[int] = []

    def mistaken() -> None:
        raise KeyError("a mistake")

    def work(number: int, connection: sa.Connection) -> int:
        runs.append(number)
        if number == 1:
            database.after_commit(connection, mistaken)
        database.after_commit(connection, lambda: told.append(number))
        return insert(number, connection)

    assert await held_up(database, [partial(work, number) for number in (1, 2, 3)]) == [1, 2, 3]
    assert runs == told == ids(database) == [1, 2, 3]
    assert "after_commit_failed" in "".join(capsys.readouterr())


async def test_writes_work_again_after_a_failure(database: Database):
    with pytest.raises(ZeroDivisionError):
        await database.write(lambda _connection: 1 / 0)
    assert await database.write(partial(insert, 3)) == 3


async def test_a_caller_that_went_away_does_not_hold_up_the_others(database: Database):
    waiting = asyncio.ensure_future(database.write(partial(insert, 1)))
    await asyncio.sleep(0)
    waiting.cancel()
    assert await database.write(partial(insert, 2)) == 2
    assert 2 in ids(database)


@pytest.mark.both_databases
async def test_reads_and_look_ups_see_what_is_committed(database: Database):
    def count(connection: sa.Connection) -> int:
        return int(connection.execute(sa.select(sa.func.count()).select_from(accounts)).scalar_one())

    for number in range(1, 4):
        await database.write(partial(insert, number), durable=number % 2 == 0)
        assert await database.look_up(count) == number
        assert await database.read(count) == number


@pytest.mark.both_databases
async def test_an_error_in_a_look_up_leaves_the_next_one_unharmed(database: Database):
    def wrong(connection: sa.Connection) -> None:
        connection.execute(sa.text("SELECT nothing FROM nowhere"))

    for _ in range(2):
        with pytest.raises((DBAPIError, DatabaseAway)):  # SQLite's errors do not tell the two apart
            await database.look_up(wrong)
        assert await database.look_up(lambda connection: connection.execute(sa.text("SELECT 1")).scalar()) == 1


@pytest.mark.both_databases
async def test_closing_finishes_the_writes_that_wait(settings: Settings, database: Database):
    waiting = [asyncio.ensure_future(database.write(partial(insert, number))) for number in range(1, 20)]
    await asyncio.sleep(0)
    await asyncio.to_thread(database.close)
    assert await asyncio.gather(*waiting) == list(range(1, 20))
    again = Database(settings)
    try:
        assert ids(again) == list(range(1, 20))
    finally:
        again.close()


async def test_a_database_that_cannot_be_reached_is_reported_as_such(tmp_path: Path):
    database = Database(Settings(data_dir=tmp_path / "missing"))
    try:
        for call in (database.read, database.look_up, database.write):
            with pytest.raises(DatabaseAway, match="database is away or busy"):
                await call(lambda connection: connection.execute(sa.text("SELECT 1")))
    finally:
        database.close()


def test_a_mistake_of_ours_is_not_taken_for_an_absence():
    assert not is_away(IntegrityError("INSERT", {}, Exception("duplicate")))
    assert not is_away(ValueError("x"))
    assert is_away(OperationalError("SELECT", {}, Exception("gone")))


def test_an_error_of_one_statement_is_told_apart_from_a_database_outage():
    means_outage = {
        psycopg.errors.AdminShutdown: True,
        psycopg.errors.CannotConnectNow: True,
        psycopg.errors.ConnectionFailure: True,
        psycopg.errors.TooManyConnections: True,
        psycopg.errors.DiskFull: True,
        psycopg.errors.LockNotAvailable: False,
        psycopg.errors.DeadlockDetected: False,
        psycopg.errors.QueryCanceled: False,
        psycopg.errors.SerializationFailure: False,
    }
    wrapped = {error: OperationalError("UPDATE", {}, error("told by PostgreSQL")) for error in means_outage}
    assert {error: is_away(one) for error, one in wrapped.items()} == means_outage
    assert [error for error, one in wrapped.items() if is_held_up(one) == means_outage[error]] == []
    assert [error for error, one in wrapped.items() if not isinstance(translated(one), DatabaseAway)] == []


def test_a_durable_commit_waits_for_the_disk(tmp_path: Path):
    database = Database(Settings(data_dir=tmp_path))
    try:
        for durable, level in ((True, 2), (False, 1), (True, 2)):
            with database.begin(durable=durable) as connection:
                assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
        with database.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    finally:
        database.close()
