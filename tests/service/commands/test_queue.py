"""Who may run what: claims, limits, cancellation, and what is written of a running command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.service.commands.conftest import AddCommand

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.identity import Identity
from svc_jupyter.service.schema.access import accounts
from svc_jupyter.service.schema.commands import commands

NOW = 1_900_000_000.0
FIRST = Replica("1" * 32, "alpha", Identity(11))
SECOND = Replica("2" * 32, "alpha", Identity(12))


@pytest.fixture
def claim(database: Database) -> Callable[..., list[int]]:
    """Claims for a replica and returns the ids."""

    with database.begin() as connection:
        for known in (FIRST, SECOND):
            queue.register(connection, known, lease_until=NOW)

    def claim(replica: Replica = FIRST, limit: int = 100) -> list[int]:
        with database.begin() as connection:
            rows = queue.claim(connection, replica, limit=limit, now=NOW, on_sqlite=database.on_sqlite)
        return [row.id for row in rows]

    return claim


def row_of(database: Database, command_id: int) -> dict[str, Any]:
    with database.connect() as connection:
        return dict(connection.execute(sa.select(commands).where(commands.c.id == command_id)).mappings().one())


@pytest.mark.both_databases
def test_the_oldest_is_claimed_first(add_command: AddCommand, claim, database: Database):
    ids = [add_command() for _ in range(4)]
    assert claim(limit=3) == ids[:3]
    row = row_of(database, ids[0])
    assert (row["status"], row["replica_id"], row["start_time"]) == ("running", FIRST.id, NOW)
    assert row_of(database, ids[3])["status"] == "waiting"


@pytest.mark.both_databases
def test_nothing_is_claimed_twice(add_command: AddCommand, claim):
    ids = [add_command() for _ in range(3)]
    assert claim(FIRST) == ids
    assert claim(SECOND) == []


def test_a_running_or_ended_command_is_not_claimed(add_command: AddCommand, claim):
    for status in ("running", "done", "error", "cancelled"):
        add_command(status=status)
    assert claim() == []


def test_running_commands_count_against_the_limit(add_command: AddCommand, claim):
    add_command(status="running", replica_id=SECOND.id)
    ids = [add_command() for _ in range(3)]
    assert claim(limit=2) == ids[:1]
    assert claim(limit=2) == []
    assert claim(limit=1) == []


def test_each_account_has_its_own_limit(add_command: AddCommand, claim, database: Database):
    with database.begin() as connection:
        connection.execute(sa.insert(accounts).values(id=2, name="other", features={}))
    mine = [add_command() for _ in range(3)]
    theirs = [add_command(account_id=2) for _ in range(3)]
    assert sorted(claim(limit=2)) == [*mine[:2], *theirs[:2]]


def test_a_replica_takes_a_handful_at_once(add_command: AddCommand, claim):
    ids = [add_command() for _ in range(20)]
    assert claim() == ids[:16]
    assert claim(SECOND) == ids[16:]


def test_replicas_that_race_share_the_work_within_the_limit(
    postgres_url: str, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    settings = Settings(data_dir=tmp_path, database_url=SecretStr(postgres_url))
    database = Database(settings)
    try:
        with database.begin() as connection:
            connection.execute(sa.insert(accounts).values(id=1, name="a", features={}))
            connection.execute(
                sa.text(
                    "INSERT INTO users (id, account_id, email, name, enabled, created_at) "
                    "VALUES (1, 1, 'a@b', 'a', true, 0)"
                )
            )
            connection.execute(
                sa.text(
                    "INSERT INTO commands (account_id, user_id, command_type, command_source, status, command, "
                    "created_at, can_notify, folder_key) SELECT 1, 1, 'ShellCommand', 'API', 'waiting', '{}', n, "
                    "false, '0a1b' FROM generate_series(1, 60) AS n"
                )
            )
        replicas = [Replica(str(number) * 32, "alpha", Identity(number)) for number in range(6)]
        with database.begin() as connection:
            for replica in replicas:
                queue.register(connection, replica, lease_until=NOW)
        barrier = Barrier(len(replicas))

        def claim_all(replica: Replica) -> list[int]:
            barrier.wait(10)
            claimed: list[int] = []
            for _ in range(6):
                with database.begin() as connection:
                    rows = queue.claim(connection, replica, limit=50, now=NOW, on_sqlite=False)
                claimed += [row.id for row in rows]
            return claimed

        with ThreadPoolExecutor(len(replicas)) as pool:
            claimed = [command_id for ids in pool.map(claim_all, replicas) for command_id in ids]
        assert len(claimed) == len(set(claimed)) == 50
    finally:
        database.close()


@pytest.mark.both_databases
def test_a_replica_whose_place_was_taken_claims_nothing(add_command: AddCommand, claim, database: Database):
    first, second = add_command(), add_command()
    with database.begin() as connection:
        queue.inherit(connection, SECOND, gone=[FIRST], now=NOW)
    # On SQLite the data folder's lock says that there is no other.
    assert claim(FIRST, limit=1) == ([first] if database.on_sqlite else [])
    assert claim(SECOND, limit=2) == ([second] if database.on_sqlite else [first, second])


class TestOfARunningCommand:
    @pytest.fixture
    def command_id(self, add_command: AddCommand) -> int:
        return add_command(status="running", replica_id=FIRST.id, start_time=NOW)

    def finish(self, database: Database, replica: Replica, command_id: int, **values: Any) -> bool:
        with database.begin() as connection:
            return queue.finish(connection, replica, command_id, values)

    @pytest.mark.both_databases  # JSON among the values
    def test_its_replica_writes_the_end_once(self, database: Database, command_id: int):
        assert self.finish(database, FIRST, command_id, status="done", end_time=NOW + 1, attempts=[{"number": 1}])
        assert not self.finish(database, FIRST, command_id, status="error")
        row = row_of(database, command_id)
        assert (row["status"], row["end_time"], row["attempts"]) == ("done", NOW + 1, [{"number": 1}])

    def test_another_replica_does_not(self, database: Database, command_id: int):
        assert not self.finish(database, SECOND, command_id, status="done")
        assert row_of(database, command_id)["status"] == "running"

    def test_the_first_reason_to_stop_stays(self, database: Database, command_id: int):
        with database.begin() as connection:
            queue.request_stop(connection, command_id, "cancel")
            queue.request_stop(connection, command_id, "timeout")
            assert queue.stops_wanted(connection, FIRST) == [(command_id, "cancel")]
            assert queue.stops_wanted(connection, SECOND) == []

    def test_it_is_not_cancelled_as_if_it_waited(self, database: Database, command_id: int):
        with database.begin() as connection:
            assert not queue.cancel_waiting(connection, command_id, now=NOW, message="cancelled")
        assert row_of(database, command_id)["status"] == "running"

    def test_its_replica_finds_it_by_what_the_database_says(self, database: Database, command_id: int):
        with database.connect() as connection:
            assert queue.running_ids(connection, FIRST) == [command_id]
            assert queue.running_ids(connection, SECOND) == []
            assert [row.id for row in queue.rows_of(connection, {command_id, command_id + 1})] == [command_id]


def test_a_waiting_command_is_cancelled_before_it_began(add_command: AddCommand, claim, database: Database):
    command_id = add_command()
    with database.begin() as connection:
        assert queue.cancel_waiting(connection, command_id, now=NOW, message="cancelled before it began")
        assert not queue.cancel_waiting(connection, command_id, now=NOW + 1, message="again")
    row = row_of(database, command_id)
    assert (row["status"], row["end_time"], row["message"]) == ("cancelled", NOW, "cancelled before it began")
    assert claim() == []


class TestInheritance:
    """Of a replica that is gone, by one on the same host or on another."""

    ELSEWHERE = Replica("3" * 32, "beta", Identity(11))

    @pytest.fixture(autouse=True)
    def _registered(self, database: Database) -> None:
        with database.begin() as connection:
            for replica in (FIRST, SECOND, self.ELSEWHERE):
                queue.register(connection, replica, lease_until=NOW)

    def inherit(self, database: Database, heir: Replica, gone: Sequence[Replica]) -> queue.Inheritance:
        with database.begin() as connection:
            return queue.inherit(connection, heir, gone=gone, now=NOW)

    def test_on_the_same_host_its_commands_run_on(self, database: Database, add_command: AddCommand):
        running = add_command(status="running", replica_id=FIRST.id)
        add_command(status="done", replica_id=FIRST.id)
        add_command(status="running", replica_id=self.ELSEWHERE.id)
        inheritance = self.inherit(database, SECOND, [FIRST])
        assert [row.id for row in inheritance.adopted] == [running]
        assert inheritance.lost == []
        assert row_of(database, running)["replica_id"] == SECOND.id

    def test_on_another_host_they_are_reported_as_lost(self, database: Database, add_command: AddCommand):
        running = add_command(status="running", replica_id=FIRST.id)
        inheritance = self.inherit(database, self.ELSEWHERE, [FIRST])
        assert inheritance.adopted == []
        assert [row.id for row in inheritance.lost] == [running]
        row = row_of(database, running)
        assert (row["status"], row["end_time"]) == ("error", NOW)
        assert row["message"].startswith("lost: the host alpha that ran it no longer answers")

    def test_there_is_one_heir(self, database: Database, add_command: AddCommand):
        running = add_command(status="running", replica_id=FIRST.id)
        assert len(self.inherit(database, SECOND, [FIRST]).adopted) == 1
        assert self.inherit(database, self.ELSEWHERE, [FIRST]) == queue.Inheritance([], [])
        assert row_of(database, running)["replica_id"] == SECOND.id

    def test_a_replica_that_was_inherited_learns_it_at_its_next_renewal(self, database: Database):
        with database.begin() as connection:
            assert queue.renew(connection, FIRST, lease_until=NOW + 9)
        self.inherit(database, SECOND, [FIRST])
        with database.begin() as connection:
            assert not queue.renew(connection, FIRST, lease_until=NOW + 9)

    def test_others_are_seen_with_the_end_of_their_lease(self, database: Database):
        with database.begin() as connection:
            queue.renew(connection, FIRST, lease_until=NOW + 7)
            others = queue.other_replicas(connection, SECOND)
        assert sorted(others, key=lambda item: item[0].id) == [(FIRST, NOW + 7), (self.ELSEWHERE, NOW)]


def test_waiting_commands_are_noticed(add_command: AddCommand, database: Database, caller: Caller):
    with database.connect() as connection:
        assert not queue.some_wait(connection)
    add_command()
    with database.connect() as connection:
        assert queue.some_wait(connection)
        assert queue.running_count(connection, caller.account_id) == 0
