"""The children of composite commands: their order, their slot, their ends, and what a restart finds of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from tests.conftest import end_commands_of
from tests.service.commands.conftest import AddCommand
from tests.service.commands.rows import command_row
from tests.service.commands.scripted import Scripted
from tests.support.clusters import gate_of
from tests.support.until import until, written

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.children import child_values, constants, find_child, nominal_time_of
from svc_jupyter.service.commands.ends import STOP, StopReason
from svc_jupyter.service.commands.queue import Replica
from svc_jupyter.service.commands.rows import CommandRow, command_root, read_rows
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.kinds.composite.kind import CompositeKind
from svc_jupyter.service.processes.identity import Identity
from svc_jupyter.service.schema.commands import NEW_ROW, commands, replicas
from svc_jupyter.service.schema.schedules import actions, schedules

NewRunner = Callable[..., Any]
AddComposite = Callable[..., int]


@pytest.fixture
async def bus(database: Database) -> AsyncIterator[Bus]:
    bus = Bus(database)
    await bus.start()
    yield bus
    await bus.stop()


@pytest.fixture
async def new_runner(settings: Settings, database: Database, bus: Bus) -> AsyncIterator[NewRunner]:
    """Starts runners of composites of short scripts; they are stopped afterwards."""
    runners: list[Runner] = []

    async def new_runner(**changes: Any) -> Runner:
        kinds: dict[str, Any] = {"ShellCommand": Scripted(lambda task: str(task.command["inline"]))}
        gate = gate_of(settings, database, bus)
        kinds["CompositeCommand"] = CompositeKind(dict(kinds), gate)
        changed = settings.model_copy(update={"lease_seconds": 0.6, "kill_grace_seconds": 1.0, **changes})
        runner = Runner(changed, database, bus, kinds, gate=gate, at_end=())
        runners.append(runner)
        await runner.start()
        return runner

    yield new_runner
    for runner in runners:
        await runner.stop()
    end_commands_of(settings.data_dir)


@pytest.fixture
def add_composite(add_command: AddCommand) -> AddComposite:
    """Writes the row of a composite of scripts (or of whole sub-commands) and returns its id."""

    def add(*parts: str | dict[str, Any], **values: Any) -> int:
        whole = [part if isinstance(part, dict) else {"inline": part} for part in parts]
        command = {"sub_commands": [{"command_type": "ShellCommand", **part} for part in whole]}
        return add_command(command_type="CompositeCommand", command=command, **values)

    return add


def row_of(database: Database, command_id: int) -> CommandRow:
    with database.connect() as connection:
        return queue.row_of(connection, command_id)


def children_of(database: Database, composite_id: int) -> list[CommandRow]:
    query = sa.select(commands).where(commands.c.parent_id == composite_id).order_by(commands.c.child_number)
    with database.connect() as connection:
        return read_rows(connection.execute(query))


async def ended(database: Database, command_id: int) -> CommandRow:
    await until(lambda: row_of(database, command_id).end_time is not None)
    return row_of(database, command_id)


def cancel(database: Database, bus: Bus, command_id: int) -> None:
    with database.begin() as connection:
        queue.request_stop(connection, command_id, StopReason.CANCEL)
        bus.publish(connection, STOP, f"{command_id} {StopReason.CANCEL}")


async def is_gone(runner: Runner, database: Database) -> None:
    """Stop a runner, and have its process look as if it were over (it is this one)."""
    await runner.stop()
    with database.begin() as connection:
        connection.execute(sa.update(replicas).values(start_ticks=1))


def held(folder: Path, name: str = "held") -> str:
    """Return a script that counts its runs and waits to be let go by a file."""
    return f"echo x >>{folder}/{name}; until [ -e {folder}/go ]; do sleep 0.02; done"


def root_of(settings: Settings, row: CommandRow) -> Path:
    return command_root(settings.commands_dir, row.id, row.folder_key)


async def test_they_run_one_after_the_other_as_commands_of_their_own(
    new_runner: NewRunner, add_composite: AddComposite, database: Database, settings: Settings, tmp_path: Path
):
    first = {"inline": f"sleep 0.2; echo 1 >>{tmp_path}/order", "name": "first", "retry": 2, "can_notify": True}
    second = f"cat {tmp_path}/order; echo $day$; echo 2 >>{tmp_path}/order"
    composite_id = add_composite(
        first, second, f"cat >/dev/null {tmp_path}/order", resolved_macros=[{"day": "Monday"}], label="default", retry=1
    )
    await new_runner()
    row = await ended(database, composite_id)
    assert (row.status, row.progress, row.message) == ("done", 100, None)
    children = children_of(database, composite_id)
    assert [(c.status, c.child_number, c.name, c.retry, c.can_notify) for c in children] == [
        ("done", 1, "first", 2, True),
        ("done", 2, None, 1, False),
        ("done", 3, None, 1, False),
    ]
    assert {(c.label, c.replica_id) for c in children} == {("default", row.replica_id)}
    log_lines = (root_of(settings, row) / "log").read_text().splitlines()
    assert log_lines == [
        line
        for number, child in enumerate(children, start=1)
        for line in (
            f"sub-command {number} of 3 (ShellCommand) runs as command {child.id}",
            f"sub-command {number} of 3 (ShellCommand), command {child.id}: done",
        )
    ]
    assert (root_of(settings, children[1]) / "1" / "out").read_text() == "1\nMonday\n"
    result = root_of(settings, row) / row.result["file"]
    assert result.samefile(root_of(settings, children[2]) / "1" / "out")


async def test_the_first_that_fails_ends_the_composite_and_no_other_begins(
    new_runner: NewRunner, add_composite: AddComposite, database: Database
):
    composite_id = add_composite("true", {"inline": "exit 3", "retry": 1, "retry_delay": 0}, "true")
    await new_runner()
    row = await ended(database, composite_id)
    first, second = children_of(database, composite_id)
    assert (row.status, row.result) == ("error", None)
    assert row.message == f"sub-command 2 of 3 (ShellCommand, command {second.id}) failed: exited with 3"
    assert 33 <= row.progress < 66
    assert (first.status, second.status) == ("done", "error")
    assert [attempt["number"] for attempt in second.attempts] == [1, 2], "what failed is retried, by itself"
    assert len(row.attempts) == 1


async def test_a_composite_and_its_child_hold_one_slot(
    new_runner: NewRunner, add_composite: AddComposite, add_command: AddCommand, database: Database, tmp_path: Path
):
    composites = [add_composite(held(tmp_path), "true") for _ in range(2)]
    last = add_command(command={"inline": "true"})
    await new_runner(running_limit=2)
    await until(lambda: (tmp_path / "held").exists() and (tmp_path / "held").read_text() == "x\nx\n")
    assert row_of(database, last).status == "waiting"
    (tmp_path / "go").touch()
    assert {(await ended(database, command_id)).status for command_id in (*composites, last)} == {"done"}


class TestEnding:
    async def test_a_cancellation_reaches_the_child(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, bus: Bus, tmp_path: Path
    ):
        composite_id = add_composite(held(tmp_path), "true")
        await new_runner()
        await written(tmp_path / "held")
        cancel(database, bus, composite_id)
        row = await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert (row.status, row.message) == ("cancelled", "cancelled")
        assert (child.status, child.message) == ("cancelled", f"ended with its composite command {composite_id}")
        assert child.end_time <= row.end_time

    async def test_a_timeout_reaches_the_child(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, tmp_path: Path
    ):
        composite_id = add_composite(held(tmp_path), "true", timeout=1)
        await new_runner(timeout_check_seconds=0.5)
        row = await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert (row.status, child.status) == ("error", "cancelled")
        assert row.message.startswith("timed out: ran longer than its 1 s")

    async def test_a_childs_own_timeout_ends_the_composite(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, tmp_path: Path
    ):
        composite_id = add_composite({"inline": held(tmp_path), "timeout": 1}, "true")
        await new_runner(timeout_check_seconds=0.5)
        row = await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert (row.status, child.status) == ("error", "error")
        assert row.message.startswith(f"sub-command 1 of 2 (ShellCommand, command {child.id}) failed: timed out")

    async def test_a_child_cancelled_by_itself_ends_the_composite(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, bus: Bus, tmp_path: Path
    ):
        composite_id = add_composite(held(tmp_path), "true")
        await new_runner()
        await written(tmp_path / "held")
        (child,) = children_of(database, composite_id)
        cancel(database, bus, child.id)
        row = await ended(database, composite_id)
        assert row.status == "error"
        assert row.message == f"sub-command 1 of 2 (ShellCommand, command {child.id}) was cancelled"

    async def test_a_child_that_is_just_created_is_ended_too(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, bus: Bus, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ):  # fmt: skip
        real = queue.begin_child
        ids: list[int] = []

        def begin_and_cancel(connection: sa.Connection, *arguments: Any, **options: Any) -> Any:
            row = real(connection, *arguments, **options)
            queue.request_stop(connection, ids[0], StopReason.CANCEL)
            bus.announce(STOP, f"{ids[0]} {StopReason.CANCEL}")
            return row

        monkeypatch.setattr(queue, "begin_child", begin_and_cancel)
        ids.append(add_composite(held(tmp_path), "true"))
        await new_runner()
        assert (await ended(database, ids[0])).status == "cancelled"
        assert [child.status for child in children_of(database, ids[0])] == ["cancelled"]
        assert not (tmp_path / "held").exists()


class TestAfterARestart:
    async def test_a_composite_goes_on_where_it_was(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, tmp_path: Path
    ):
        composite_id = add_composite(f"echo x >>{tmp_path}/first", held(tmp_path), f"echo x >>{tmp_path}/last")
        before = await new_runner()
        await written(tmp_path / "held")
        await is_gone(before, database)
        running = children_of(database, composite_id)
        assert [child.status for child in running] == ["done", "running"]
        await new_runner()
        (tmp_path / "go").touch()
        assert (await ended(database, composite_id)).status == "done"
        assert [child.id for child in children_of(database, composite_id)][:2] == [child.id for child in running]
        assert {(tmp_path / name).read_text() for name in ("first", "held", "last")} == {"x\n"}

    async def test_a_stop_that_was_asked_for_meanwhile_ends_both(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, bus: Bus, tmp_path: Path
    ):
        composite_id = add_composite(held(tmp_path), "true")
        before = await new_runner()
        await written(tmp_path / "held")
        await is_gone(before, database)
        cancel(database, bus, composite_id)
        await new_runner()
        row = await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert (row.status, child.status) == ("cancelled", "cancelled")
        assert child.end_time <= row.end_time

    async def test_a_timeout_that_was_over_meanwhile_ends_both(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, tmp_path: Path
    ):
        composite_id = add_composite(held(tmp_path), "true", timeout=1)
        before = await new_runner(timeout_check_seconds=60)
        await written(tmp_path / "held")
        await is_gone(before, database)
        with database.begin() as connection:
            long_ago = sa.update(commands).where(commands.c.id == composite_id).values(start_time=time.time() - 600)
            connection.execute(long_ago)
        await new_runner(timeout_check_seconds=60)
        row = await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert (row.status, child.status) == ("error", "cancelled")
        assert row.message.startswith("timed out")

    async def test_a_stop_between_two_children_is_obeyed(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database
    ):
        composite_id = add_composite("true", "true", stop_reason="cancel")
        await new_runner()
        assert (await ended(database, composite_id)).status == "cancelled"
        assert children_of(database, composite_id) == []


class TestMacros:
    async def test_own_ones_build_on_the_composites(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database, settings: Settings
    ):
        part = {"inline": "echo $day$ $table$ '$hour$'", "macros": [{"table": "day.a + 1"}, {"hour": HOUR}]}
        created = datetime(2026, 11, 21, 9, 30, tzinfo=UTC).timestamp()
        composite_id = add_composite(part, resolved_macros=[{"day": {"a": 6}}, {"other": "x"}], created_at=created)
        await new_runner()
        assert (await ended(database, composite_id)).status == "done"
        (child,) = children_of(database, composite_id)
        assert child.resolved_macros == [{"day": {"a": 6}}, {"other": "x"}, {"table": 7}, {"hour": "09:30"}]

    async def test_the_nominal_time_is_in_the_schedules_zone(
        self, new_runner: NewRunner, add_composite: AddComposite, add_schedule: Callable[..., int], database: Database
    ):
        composite_id = add_composite(
            {"inline": "true", "macros": [{"hour": HOUR}]},
            command_source="SCHEDULED",
            nominal_time="2026-11-21T09:30:00Z",
        )
        add_schedule(composite_id, time_zone="Asia/Kolkata")
        await new_runner()
        await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert child.resolved_macros == [{"hour": "15:00"}]
        assert (child.command_source, child.nominal_time) == ("SCHEDULED", "2026-11-21T09:30:00Z")

    async def test_they_come_from_the_notebook_of_their_composite(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database
    ):
        composite_id = add_composite("true", command_source="UI", notebook="report.ipynb")
        await new_runner()
        await ended(database, composite_id)
        (child,) = children_of(database, composite_id)
        assert (child.command_source, child.notebook) == ("UI", "report.ipynb")

    async def test_one_without_a_value_ends_the_composite(
        self, new_runner: NewRunner, add_composite: AddComposite, database: Database
    ):
        composite_id = add_composite("true", {"inline": "true", "macros": [{"x": "nothing.there"}]})
        await new_runner()
        row = await ended(database, composite_id)
        assert row.status == "error"
        assert row.message.startswith("sub-command 2 of 2 could not begin: macro 'x': ")


HOUR = "Service_nominal_time.format('HH:mm')"


@pytest.fixture
def add_schedule(database: Database, account_id: int) -> Callable[..., int]:
    """Writes a schedule and the action that a command is; returns the schedule's id."""

    def add(command_id: int, time_zone: str) -> int:
        zeros = {column.name: 0 for column in schedules.columns if not column.nullable and column.name != "id"}
        texts = {"status": "RUNNING", "command_type": "CompositeCommand", "command": {}, "time_zone": time_zone}
        flags = {column.name: False for column in schedules.columns if isinstance(column.type, sa.Boolean)}
        owner = {"account_id": account_id, "user_id": 1}
        action = {"account_id": account_id, "sequence_id": 1, "nominal_time": 0, "status": "running", "done": False}
        with database.begin() as connection:
            insert = sa.insert(schedules).values({**zeros, **flags, **texts, **owner}).returning(schedules.c.id)
            schedule_id = int(connection.execute(insert).scalar_one())
            values = {**action, "schedule_id": schedule_id, "command_id": command_id, "created_at": 0}
            connection.execute(sa.insert(actions).values(values))
        return schedule_id

    return add


class TestCreatingAChild:
    HERE = Replica("1" * 32, "alpha", Identity(11))

    @pytest.fixture
    def begin(self, database: Database, add_composite: AddComposite) -> Callable[..., Any]:
        """Creates the first child of a running composite, as the replica that is given."""
        with database.begin() as connection:
            queue.register(connection, self.HERE, lease_until=time.time())
        composite_id = add_composite("true", status="running", replica_id=self.HERE.id, start_time=1.0)
        composite = row_of(database, composite_id)
        values = {**NEW_ROW, "folder_key": "0a1b", **child_values(composite, 1, []), "start_time": 2.0}

        def begin(replica: Replica = self.HERE) -> Any:
            with database.begin() as connection:
                return queue.begin_child(connection, replica, values, on_sqlite=database.on_sqlite)

        return begin

    def test_a_second_time_finds_it(self, begin: Callable[..., Any], database: Database):
        first = begin()
        assert (first.status, first.replica_id, first.child_number) == ("running", self.HERE.id, 1)
        assert begin().id == first.id
        with database.connect() as connection:
            found = find_child(connection, first.parent_id, 1)
            assert found is not None
            assert found.id == first.id
            assert queue.running_count(connection, first.account_id) == 1

    def test_a_replica_that_has_the_composite_no_more_creates_none(self, begin: Callable[..., Any], database: Database):
        with database.begin() as connection:
            queue.inherit(connection, Replica("2" * 32, "alpha", Identity(12)), gone=[self.HERE], now=2.0)
        assert begin() is None

    def test_a_lost_host_ends_composite_and_child(self, begin: Callable[..., Any], database: Database):
        child = begin()
        with database.begin() as connection:
            inheritance = queue.inherit(connection, Replica("2" * 32, "beta", Identity(12)), gone=[self.HERE], now=2.0)
        assert sorted(row.id for row in inheritance.lost) == [child.parent_id, child.id]


def test_values_of_a_sub_command_take_precedence_over_those_of_its_composite():
    part = {"command_type": "ShellCommand", "inline": "true", "label": "spark", "retry": 0, "tags": "[b]"}
    composite = command_row(
        id=9, command={"sub_commands": [part]}, label="default", retry=3, retry_delay=5, tags="[a]", timeout=60
    )
    values = child_values(composite, 1, [])
    shown = {key: values.get(key) for key in ("label", "retry", "retry_delay", "tags", "timeout", "command")}
    assert shown == {
        "label": "spark",
        "retry": 0,
        "retry_delay": 5,
        "tags": "[b]",
        "timeout": None,
        "command": {"inline": "true"},
    }


def test_only_the_macros_that_are_named_are_handed_on_and_by_value():
    given = [{"day": 'a "b"', "unused": 1}]
    assert constants(given, [{"x": "day + 1"}]) == [{"day": 'JSON.parse("\\"a \\\\\\"b\\\\\\"\\"")'}]


def test_outside_a_schedule_the_nominal_time_is_that_of_the_submission():
    assert nominal_time_of(command_row(created_at=0.0)) == datetime(1970, 1, 1, tzinfo=UTC)
    assert nominal_time_of(command_row(nominal_time="2026-11-21T09:00:00Z")) == datetime(2026, 11, 21, 9, tzinfo=UTC)


async def test_a_database_that_is_away_delays_a_child_and_no_more(
    new_runner: NewRunner, add_composite: AddComposite, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("svc_jupyter.service.ground.background.RETRY_SECONDS", 0.01)
    real, failures = queue.begin_child, iter([sa.exc.OperationalError("x", {}, Exception("away"))])

    def begin(*arguments: Any, **options: Any) -> Any:
        if (error := next(failures, None)) is not None:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(queue, "begin_child", begin)
    composite_id = add_composite("true", "true")
    await new_runner()
    assert (await ended(database, composite_id)).status == "done"
    assert next(failures, None) is None
