"""Which replicas are taken for gone."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.service.commands.conftest import AddCommand

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.lease import Lease
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.identity import Identity
from svc_jupyter.service.schema.commands import replicas

LEASE_SECONDS = 15.0
FREE_PID = 2**22 + 1
"""No process ever has this number."""


@pytest.fixture
def settings(tmp_path: Path, postgres_url: str) -> Settings:
    """On PostgreSQL: on SQLite there is no other replica."""
    return Settings(data_dir=tmp_path, database_url=SecretStr(postgres_url))


@pytest.fixture
def clock() -> dict[str, float]:
    """The time by which leases are given and compared; it goes on when it is told to."""
    return {"now": time.time()}


@pytest.fixture
async def lease(database: Database, clock: dict[str, float]) -> Lease:
    lease = Lease(database, LEASE_SECONDS, lambda _connection: clock["now"])
    await lease.register()
    return lease


def other(
    database: Database, lease: Lease, *, host: str | None = None, pid: int | None = None, lease_until: float
) -> Replica:
    """Register another replica: of this host and alive unless told otherwise."""
    own = lease.replica
    process = own.process if pid is None else Identity(pid, own.process.boot_id, 1)
    replica = Replica("f" * 32, host or own.host, process)
    with database.begin() as connection:
        queue.register(connection, replica, lease_until=lease_until)
    return replica


class Lost:
    """Keeps what is told as lost."""

    def __init__(self) -> None:
        self.rows: list[CommandRow] = []

    def __call__(self, _connection: sa.Connection, row: CommandRow) -> None:
        self.rows.append(row)


async def test_a_dead_process_of_this_host_is_inherited_at_once(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    gone = other(database, lease, pid=FREE_PID, lease_until=clock["now"] + 60)
    command_id = add_command(status="running", replica_id=gone.id)
    assert [row.id for row in await lease.take_over(Lost())] == [command_id]


async def test_a_later_process_with_its_number_does_not_stand_for_it(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    earlier = lease.replica.process._replace(start_ticks=1)
    replica = Replica("e" * 32, lease.replica.host, earlier)
    with database.begin() as connection:
        queue.register(connection, replica, lease_until=clock["now"] + 60)
    command_id = add_command(status="running", replica_id=replica.id)
    assert [row.id for row in await lease.take_over(Lost())] == [command_id]


async def test_a_living_replica_keeps_its_commands(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    add_command(status="running", replica_id=other(database, lease, lease_until=clock["now"] + 60).id)
    add_command(status="running", replica_id=lease.replica.id)
    assert await lease.take_over(Lost()) == []


async def test_a_living_replica_keeps_its_commands_when_the_wall_clock_is_set(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand, monkeypatch: pytest.MonkeyPatch
):
    """The system's tale of when a process started moves with the clock."""
    add_command(status="running", replica_id=other(database, lease, lease_until=clock["now"] + 60).id)
    told = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: told(process) + 10)
    assert await lease.take_over(Lost()) == []


async def test_a_replica_of_another_run_of_the_machine_is_known_to_be_gone(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    gone = other(database, lease, lease_until=clock["now"] + 60)
    with database.begin() as connection:
        connection.execute(sa.update(replicas).where(replicas.c.id == gone.id).values(boot_id="of the run before"))
    command_id = add_command(status="running", replica_id=gone.id)
    assert [row.id for row in await lease.take_over(Lost())] == [command_id]


async def test_a_wall_clock_that_is_ahead_ends_no_lease_of_another_host(
    database: Database, add_command: AddCommand, monkeypatch: pytest.MonkeyPatch
):
    holder, judge = Lease(database, LEASE_SECONDS), Lease(database, LEASE_SECONDS)
    holder.replica = Replica(holder.replica.id, "elsewhere", holder.replica.process)
    await holder.register()
    await judge.register()
    add_command(status="running", replica_id=holder.replica.id)
    lost = Lost()
    clock = time.time
    for shift in (40, 3600):
        monkeypatch.setattr(time, "time", lambda shift=shift: clock() + shift)
        assert await judge.renew()
        await judge.take_over(lost)
    assert not lost.rows


@pytest.mark.parametrize("step", [-3600, 3600])
async def test_when_the_databases_clock_is_set_others_get_time_to_renew(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand, step: float
):
    living = other(database, lease, host="elsewhere", lease_until=clock["now"] + LEASE_SECONDS)
    add_command(status="running", replica_id=living.id)
    clock["now"] += LEASE_SECONDS / 3
    assert await lease.renew()
    clock["now"] += step
    lost = Lost()
    for _ in range(5):
        assert await lease.renew()
        await lease.take_over(lost)
        with database.begin() as connection:
            assert queue.renew(connection, living, lease_until=clock["now"] + LEASE_SECONDS)
        clock["now"] += LEASE_SECONDS / 3
    assert not lost.rows


async def test_a_dead_replicas_lease_by_a_clock_that_was_set_back_ends_all_the_same(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    gone = other(database, lease, host="elsewhere", lease_until=clock["now"] + LEASE_SECONDS)
    add_command(status="running", replica_id=gone.id)
    clock["now"] -= 3600
    lost = Lost()
    for _ in range(5):
        assert await lease.renew()
        await lease.take_over(lost)
        clock["now"] += LEASE_SECONDS / 3
    assert len(lost.rows) == 1


async def test_another_hosts_commands_are_lost_once_its_lease_is_over(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    gone = other(database, lease, host="elsewhere", pid=FREE_PID, lease_until=clock["now"] + 20)
    command_id = add_command(status="running", replica_id=gone.id)
    lost = Lost()
    for _ in range(3):
        clock["now"] += LEASE_SECONDS / 3
        await lease.renew()
        assert await lease.take_over(lost) == []
    assert not lost.rows
    for _ in range(2):
        clock["now"] += LEASE_SECONDS / 3
        await lease.renew()
        assert await lease.take_over(lost) == []
    assert [(row.id, row.status) for row in lost.rows] == [(command_id, "error")]


async def test_after_an_outage_others_get_a_lease_of_time_to_come_back(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    """While the database was away nobody could renew: an expired lease proves nothing."""
    living = other(database, lease, host="elsewhere", lease_until=clock["now"] + LEASE_SECONDS)
    add_command(status="running", replica_id=living.id)
    lost = Lost()
    clock["now"] += 300
    assert await lease.renew()
    await lease.take_over(lost)
    clock["now"] += LEASE_SECONDS / 3
    with database.begin() as connection:
        assert queue.renew(connection, living, lease_until=clock["now"] + LEASE_SECONDS)
    for _ in range(2):
        assert await lease.renew()
        await lease.take_over(lost)
        clock["now"] += LEASE_SECONDS / 3
    assert not lost.rows


async def test_a_replica_that_begins_judges_nobody_by_an_old_lease(
    database: Database, lease: Lease, clock: dict[str, float], add_command: AddCommand
):
    expired = other(database, lease, host="elsewhere", lease_until=clock["now"] - 100)
    add_command(status="running", replica_id=expired.id)
    lost = Lost()
    await lease.take_over(lost)
    assert not lost.rows


async def test_a_replica_that_stops_keeps_its_claims_for_a_restart(
    database: Database, lease: Lease, clock: dict[str, float]
):
    await lease.leave()
    with database.connect() as connection:
        assert connection.execute(sa.select(replicas.c.lease_until)).scalar_one() > clock["now"] + LEASE_SECONDS


async def test_a_replica_whose_claims_were_taken_begins_anew(database: Database, lease: Lease, clock: dict[str, float]):
    before = lease.replica
    heir = other(database, lease, lease_until=clock["now"] + 60)
    with database.begin() as connection:
        queue.inherit(connection, heir, gone=[before], now=clock["now"])
    assert not await lease.renew()
    await lease.begin_anew()
    assert lease.replica.id != before.id
    assert await lease.renew()
