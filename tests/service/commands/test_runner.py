"""The part of a replica that does the work: what it claims, what it ends, and what it finds again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.conftest import end_commands_of
from tests.service.commands.conftest import AddCommand
from tests.service.commands.scripted import Scripted
from tests.service.conftest import ON_POSTGRESQL, Start
from tests.service.processes.test_process_leftovers import DAEMON
from tests.support.clusters import gate_of
from tests.support.processes import is_over
from tests.support.until import until, written

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.ends import StopReason
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.commands.rows import CommandRow, command_root
from svc_jupyter.service.commands.runner import Runner
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.processes.identity import Identity
from svc_jupyter.service.processes.worker_parent import MARK
from svc_jupyter.service.schema.commands import commands, owed_ends

NewRunner = Callable[..., Any]


@pytest.fixture
async def new_runner(settings: Settings, database: Database) -> AsyncIterator[NewRunner]:
    """Starts runners of shell commands; they are stopped afterwards."""
    bus = Bus(database)
    await bus.start()
    runners: list[Runner] = []

    async def new_runner(kind: Any = None, at_end: tuple[Any, ...] = (), **changes: Any) -> Runner:
        kinds = {"ShellCommand": kind or Scripted(lambda task: str(task.command["inline"]))}
        changed = settings.model_copy(update={"lease_seconds": 0.6, "kill_grace_seconds": 1.0, **changes})
        gate = gate_of(settings, database, bus)
        runner = Runner(changed, database, bus, kinds, gate=gate, at_end=at_end)
        runners.append(runner)
        await runner.start()
        return runner

    yield new_runner
    for runner in runners:
        await runner.stop()
    await bus.stop()
    end_commands_of(settings.data_dir)


def row_of(database: Database, command_id: int) -> dict[str, Any]:
    with database.connect() as connection:
        return dict(connection.execute(sa.select(commands).where(commands.c.id == command_id)).mappings().one())


async def ended(database: Database, command_id: int) -> dict[str, Any]:
    await until(lambda: row_of(database, command_id)["end_time"] is not None)
    return row_of(database, command_id)


@pytest.mark.both_databases
async def test_waiting_commands_run_when_the_runner_starts(
    new_runner: NewRunner, add_command: AddCommand, database: Database
):
    ids = [add_command() for _ in range(3)]
    runner = await new_runner(running_limit=1)
    assert [(await ended(database, command_id))["status"] for command_id in ids] == ["done"] * 3
    await until(lambda: not runner.is_busy)


async def test_no_more_run_at_once_than_allowed(
    new_runner: NewRunner, add_command: AddCommand, database: Database, tmp_path: Path
):
    script = f"echo x >>{tmp_path}/begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done"
    ids = [add_command(command={"inline": script}) for _ in range(5)]
    await new_runner(running_limit=2)
    await until(lambda: (tmp_path / "begun").exists() and (tmp_path / "begun").read_text() == "x\nx\n")
    assert sorted(row_of(database, command_id)["status"] for command_id in ids) == ["running"] * 2 + ["waiting"] * 3
    (tmp_path / "go").touch()
    assert {(await ended(database, command_id))["status"] for command_id in ids} == {"done"}


@ON_POSTGRESQL  # SQLite stores a NUL
async def test_a_failure_with_characters_no_database_stores_ends_its_command(
    new_runner: NewRunner, add_command: AddCommand, database: Database
):
    class Loud(Scripted):
        async def run(self, task: Task, desk: Desk) -> Outcome:
            return Outcome(False, "a\x00b\udfffc")

    command_id = add_command()
    await new_runner(Loud(lambda _task: "true"))
    assert (await ended(database, command_id))["message"] == "a\ufffdb?c"


def owed(database: Database) -> list[tuple[int, str]]:
    with database.connect() as connection:
        return [(row.command_id, row.owed_to) for row in connection.execute(sa.select(owed_ends))]


class Followers:
    """Two who are told of ends: the first fails until it is put right, the second notes what it is told."""

    def __init__(self, database: Database) -> None:
        self.is_right = False
        self.heard: list[tuple[str, int]] = []
        self._database = database

    def fails(self, connection: sa.Connection, row: CommandRow) -> None:
        connection.execute(sa.update(commands).where(commands.c.id == row.id).values(name="half done"))
        if not self.is_right:
            connection.execute(sa.text("SELECT nothing FROM nowhere"))
        self._database.after_commit(connection, lambda: self.heard.append(("fails", row.id)))

    def hears(self, connection: sa.Connection, row: CommandRow) -> None:
        self._database.after_commit(connection, lambda: self.heard.append(("hears", row.id)))


@pytest.mark.both_databases
async def test_one_that_fails_at_an_end_keeps_neither_the_end_nor_the_others_from_being_reported_and_is_reported_later(
    new_runner: NewRunner, add_command: AddCommand, database: Database, monkeypatch: pytest.MonkeyPatch
):
    followers = Followers(database)
    command_id = add_command(command={"inline": "exit 3"})
    first = await new_runner(at_end=(followers.fails, followers.hears))
    row = await ended(database, command_id)
    assert (row["status"], row["name"]) == ("error", None)
    assert row["message"] == "exited with 3"
    assert owed(database) == [(command_id, "Followers.fails")]
    await until(lambda: followers.heard == [("hears", command_id)])

    await first.stop()
    followers.is_right = True
    await new_runner(at_end=(followers.fails, followers.hears))
    await until(lambda: not owed(database))
    assert row_of(database, command_id)["name"] == "half done"
    await until(lambda: followers.heard == [("hears", command_id), ("fails", command_id)])


@pytest.mark.both_databases
async def test_one_that_goes_on_to_fail_is_still_owed_the_end_and_the_next_one_is_reported(
    new_runner: NewRunner, add_command: AddCommand, database: Database, capsys: pytest.CaptureFixture[str]
):
    followers = Followers(database)
    others = Followers(database)
    others.is_right = True
    ids = [add_command(status="done", end_time=1.0) for _ in range(2)]
    with database.begin() as connection:
        for command_id, since in zip(ids, (time.time(), time.time() + 1), strict=True):
            values = {"command_id": command_id, "owed_to": "Followers.fails", "since": since}
            connection.execute(sa.insert(owed_ends).values(values))
    failing = [ids[0]]

    def hook(connection: sa.Connection, row: CommandRow) -> None:
        (followers if row.id in failing else others).fails(connection, row)

    hook.__qualname__ = "Followers.fails"
    await new_runner(at_end=(hook,))
    await until(lambda: owed(database) == [(ids[0], "Followers.fails")])
    assert "end_still_not_reported" in "".join(capsys.readouterr())


async def test_an_end_that_was_owed_for_a_week_is_given_up(
    new_runner: NewRunner, add_command: AddCommand, database: Database, capsys: pytest.CaptureFixture[str]
):
    command_id = add_command(status="done", end_time=1.0)
    with database.begin() as connection:
        connection.execute(sa.insert(owed_ends).values(command_id=command_id, owed_to="nobody", since=1.0))
    await new_runner()
    await until(lambda: not owed(database))
    assert "end_never_reported" in "".join(capsys.readouterr())


@pytest.mark.both_databases
async def test_an_end_that_cannot_be_written_whole_is_written_all_the_same(
    new_runner: NewRunner, add_command: AddCommand, database: Database, capsys: pytest.CaptureFixture[str]
):
    followers = Followers(database)

    class Odd(Scripted):
        async def run(self, task: Task, desk: Desk) -> Outcome:
            return Outcome(True, outputs={"what JSON cannot tell": object()})

    command_id = add_command()
    await new_runner(Odd(lambda _task: "true"), at_end=(followers.hears,))
    row = await ended(database, command_id)
    assert (row["status"], row["progress"]) == ("done", 100)
    assert "not everything about its end could be stored" in row["message"]
    assert "end_not_written_whole" in "".join(capsys.readouterr())
    await until(lambda: followers.heard == [("hears", command_id)])


async def test_a_hook_at_the_end_sees_the_finished_row_in_its_transaction(
    new_runner: NewRunner, add_command: AddCommand, database: Database
):
    seen: list[tuple[str, str]] = []

    def hook(connection: sa.Connection, row: CommandRow) -> None:
        inside = connection.execute(sa.select(commands.c.status).where(commands.c.id == row.id)).scalar_one()
        seen.append((inside, str(row.status)))

    command_id = add_command()
    await new_runner(at_end=(hook,))
    await ended(database, command_id)
    assert seen == [("done", "done")]


async def test_a_stop_that_is_asked_for_between_the_claim_and_the_start_is_heard(
    new_runner: NewRunner, add_command: AddCommand, database: Database, monkeypatch: pytest.MonkeyPatch
):
    real = queue.claim

    def claim(connection: sa.Connection, *arguments: Any, **options: Any) -> Any:
        rows = real(connection, *arguments, **options)
        for row in rows:
            queue.request_stop(connection, row.id, StopReason.CANCEL)
        return rows

    monkeypatch.setattr(queue, "claim", claim)
    command_id = add_command(command={"inline": "sleep 600"})
    await new_runner()
    assert (await ended(database, command_id))["status"] == "cancelled"


async def test_claiming_goes_on_after_an_error(
    new_runner: NewRunner,
    add_command: AddCommand,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr("svc_jupyter.service.ground.background.RETRY_SECONDS", 0.01)
    real, failures = queue.claim, iter((sa.exc.OperationalError("x", {}, Exception("away")), ValueError("a mistake")))

    def claim(*arguments: Any, **options: Any) -> Any:
        if (error := next(failures, None)) is not None:
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(queue, "claim", claim)
    command_id = add_command()
    await new_runner()
    assert (await ended(database, command_id))["status"] == "done"
    assert "loop_failed" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "database_kind", ["sqlite"]
)  # elsewhere the next one waits until a living replica's lease ends
async def test_a_service_stops_although_an_end_cannot_be_written_and_the_next_one_writes_it(
    new_runner: NewRunner, add_command: AddCommand, database: Database, monkeypatch: pytest.MonkeyPatch
):
    def is_away(*_arguments: Any) -> bool:
        raise sa.exc.OperationalError("x", {}, Exception("away"))

    monkeypatch.setattr("svc_jupyter.service.commands.runner._SETTLING_SECONDS", 0.1)
    command_id = add_command(command={"inline": "trap '' TERM; echo begun; while :; do sleep 0.1; done"})
    runner = await new_runner(kill_grace_seconds=0.2)
    out = command_root(runner._settings.commands_dir, command_id, row_of(database, command_id)["folder_key"]) / "1/out"
    await written(out)
    with monkeypatch.context() as outage:
        outage.setattr(queue, "finish", is_away)
        with database.begin() as connection:
            queue.request_stop(connection, command_id, StopReason.CANCEL)
        runner._on_stop(f"{command_id} {StopReason.CANCEL}")
        async with asyncio.timeout(20):
            await runner.stop()
    await new_runner()
    assert (await ended(database, command_id))["status"] == "cancelled"


class TestTheSweep:
    @pytest.fixture(autouse=True)
    def _often(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("svc_jupyter.service.commands.runner._SWEEP_SECONDS", 0.05)

    @pytest.fixture
    def folder(self, settings: Settings, add_command: AddCommand) -> Path:
        """The folder of a command that runs on another replica as far as the database knows."""
        command_id = add_command(status="running", replica_id="other", start_time=time.time(), folder_key="0a1b")
        folder = command_root(settings.commands_dir, command_id, "0a1b") / "1"
        (folder / "work").mkdir(parents=True)
        return folder

    async def test_ends_what_outlived_its_command_and_nothing_else(
        self, new_runner: NewRunner, start: Start, folder: Path, database: Database
    ):
        (folder / "daemon.py").write_text(DAEMON)
        until_there = f"until [ -e {folder}/daemon ]; do sleep 0.02; done"
        process = start(f"{sys.executable} {folder}/daemon.py {folder}/daemon; {until_there}")
        daemon = int((await written(folder / "daemon")).read_text())
        assert await process.wait() == 0
        runner = await new_runner()
        await runner._sweep_next()
        assert not is_over(daemon), "its command still runs"
        with database.begin() as connection:
            connection.execute(sa.update(commands).values(status="done"))
        await until(lambda: is_over(daemon))

    async def test_ends_what_an_earlier_command_with_the_id_of_a_running_one_left(
        self, new_runner: NewRunner, folder: Path
    ):
        runner = await new_runner()
        earlier = folder.parent.with_name(folder.parent.name.replace("0a1b", "f00d"))
        marked = {MARK: f"{earlier}/1"}
        with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **marked}) as other:  # noqa: ASYNC220
            try:
                await runner._sweep_next()
                await until(lambda: other.poll() == -signal.SIGKILL)
            finally:
                other.kill()

    async def test_passes_over_a_mark_that_a_program_made_up(self, new_runner: NewRunner, folder: Path):
        runner = await new_runner()
        made_up = {MARK: f"{folder.parent.parent}/no number/x"}
        with subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **made_up}) as other:  # noqa: ASYNC220
            try:
                await runner._sweep_next()
                assert other.poll() is None
            finally:
                other.kill()


class TestOnPostgresql:
    @pytest.fixture
    def settings(self, tmp_path: Path, postgres_url: str) -> Settings:
        return Settings(data_dir=tmp_path, database_url=SecretStr(postgres_url))

    async def test_a_claim_whose_answer_got_lost_is_run(
        self, new_runner: NewRunner, add_command: AddCommand, database: Database
    ):
        runner = await new_runner()
        command_id = add_command(
            status="running", replica_id=runner._lease.replica.id, start_time=time.time(), command={"inline": "exit 0"}
        )
        assert (await ended(database, command_id))["status"] == "done"

    async def test_a_request_to_stop_whose_announcement_got_lost_is_found(
        self, new_runner: NewRunner, add_command: AddCommand, database: Database
    ):
        command_id = add_command(command={"inline": "sleep 600"})
        runner = await new_runner()
        await until(lambda: (live := runner.live(command_id)) and live.pid)
        with database.begin() as connection:
            queue.request_stop(connection, command_id, StopReason.CANCEL)
        assert (await ended(database, command_id))["status"] == "cancelled"

    async def test_one_whose_place_was_taken_lets_go_and_goes_on_as_another(
        self, new_runner: NewRunner, add_command: AddCommand, database: Database, tmp_path: Path
    ):
        script = f"echo x >>{tmp_path}/begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done"
        first = add_command(command={"inline": script})
        runner = await new_runner()
        await written(tmp_path / "begun")
        before = runner._lease.replica
        with database.begin() as connection:
            queue.inherit(connection, queue.Replica("h" * 32, before.host, Identity(1)), gone=[before], now=time.time())
        await until(lambda: runner._lease.replica.id != before.id and not runner.is_busy)
        second = add_command()
        assert (await ended(database, second))["status"] == "done"
        (tmp_path / "go").touch()
        assert (await asyncio.to_thread(row_of, database, first))["status"] == "running", "its heir will end it"
        assert (tmp_path / "begun").read_text() == "x\n"
