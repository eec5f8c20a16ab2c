"""A command on the replica that owns it: its attempts and what is told of them. Stops are in `test_job_stops.py`."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.service.commands.jobs import NewJob, Notes
from tests.service.commands.scripted import Script, Scripted
from tests.support.until import written

from svc_jupyter.service.commands.ends import StopReason
from svc_jupyter.service.commands.kind import Desk, Outcome, Task
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground import background
from svc_jupyter.service.ground.clock import exact_time
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.ground.settings import Settings


def fails_until(attempt: int, code: int = 1) -> Script:
    return lambda task: f"echo try {task.attempt}; exit {0 if task.attempt >= attempt else code}"


async def test_a_command_that_does_well_runs_once(new_job: NewJob, tmp_path: Path):
    kind = Scripted(lambda _task: "echo $SVC_COMMAND_ID")
    values = await new_job(kind, retry=3).run()
    assert (values["status"], values["progress"], values["message"]) == ("done", 100, None)
    assert values["result"]["file"] == "1/out"
    assert [item["exit_code"] for item in values["attempts"]] == [0]
    assert (tmp_path / "7" / "1" / "out").read_text() == "7\n"
    assert values["pid"] is not None


async def test_without_retries_a_failure_is_final(new_job: NewJob):
    values = await new_job(Scripted(fails_until(9))).run()
    assert (values["status"], values["message"], values["progress"]) == ("error", "exited with 1", 0)
    assert [item["number"] for item in values["attempts"]] == [1]


@pytest.mark.parametrize(("retry", "status", "attempts"), [(1, "error", 2), (2, "done", 3), (3, "done", 3)])
async def test_a_failed_attempt_is_tried_again(new_job: NewJob, notes: Notes, retry: int, status: str, attempts: int):
    kind = Scripted(fails_until(3))
    values = await new_job(kind, retry=retry, retry_delay=0).run()
    assert values["status"] == status
    assert [item["number"] for item in values["attempts"]] == list(range(1, attempts + 1))
    assert [task.attempt for task in kind.tasks] == list(range(1, attempts + 1))
    assert [len(item["attempts"]) for item in notes.values] == list(range(1, attempts))


async def test_each_attempt_has_a_folder_of_its_own_and_they_share_a_log(new_job: NewJob, tmp_path: Path):
    await new_job(Scripted(lambda task: f"pwd; echo e{task.attempt} >&2; exit 1"), retry=1, retry_delay=0).run()
    outs = [(tmp_path / "7" / str(number) / "out").read_text() for number in (1, 2)]
    assert outs == [f"{tmp_path}/7/{number}/work\n" for number in (1, 2)]
    assert (tmp_path / "7" / "log").read_text() == ("e1\nattempt 1 failed: exited with 1; retry 1 of 1 in 0 min\ne2\n")


async def test_a_failure_that_cannot_end_otherwise_is_not_tried_again(new_job: NewJob):
    values = await new_job(Scripted(fails_until(9, code=99)), retry=3, retry_delay=0).run()
    assert (values["status"], len(values["attempts"])) == ("error", 1)


@pytest.mark.parametrize(("delay", "seconds"), [(None, 60), (5, 300)])
async def test_the_next_attempt_waits_for_its_delay(new_job: NewJob, notes: Notes, delay: int | None, seconds: int):
    job = new_job(Scripted(fails_until(9)), retry=1, retry_delay=delay)
    running = asyncio.ensure_future(job.run())
    await notes.written.wait()
    planned = notes.values[0]["next_attempt_at"] - time.time()
    assert seconds - 30 < planned <= seconds
    job.stop(StopReason.CANCEL)
    values = await running
    assert (values["status"], values["message"], values["next_attempt_at"]) == ("cancelled", "cancelled", None)
    assert len(values["attempts"]) == 1, "an attempt that never began is none"


async def test_a_planned_attempt_is_made_after_a_restart(new_job: NewJob):
    first = {"number": 1, "start_time": 1, "end_time": 2, "exit_code": 1, "message": "exited with 1"}
    kind = Scripted(fails_until(2))
    planned = time.time() + 0.2
    values = await new_job(kind, retry=1, attempts=[first], next_attempt_at=planned).run()
    assert [task.attempt for task in kind.tasks] == [2]
    assert values["attempts"][0] == first
    assert values["attempts"][1]["start_time"] == int(planned)
    assert values["end_time"] >= planned


async def test_the_times_of_an_attempt_are_exact_and_the_last_one_ends_with_its_command(
    new_job: NewJob, monkeypatch: pytest.MonkeyPatch
):
    """The clock goes on by a second with each look."""
    clock = itertools.count(1_795_269_900.5)
    monkeypatch.setattr("svc_jupyter.service.commands.job.time.time", lambda: next(clock))
    values = await new_job(Scripted(lambda _task: "true"), start_time=1_795_269_841.75).run()
    (attempt,) = values["attempts"]
    assert (attempt["start_time"], attempt["started_at"]) == (1_795_269_841, "2026-11-21T14:04:01.750Z")
    assert (attempt["end_time"], attempt["ended_at"]) == (int(values["end_time"]), exact_time(values["end_time"]))


async def test_a_running_attempt_is_followed_after_a_restart(new_job: NewJob, tmp_path: Path):
    script = f"echo begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done; exit 0"
    before = asyncio.ensure_future(new_job(Scripted(lambda _task: script)).run())
    await written(tmp_path / "7" / "1" / "out")
    before.cancel()
    await asyncio.gather(before, return_exceptions=True)
    after = asyncio.ensure_future(new_job(Scripted(lambda _task: "echo twice")).run())
    (tmp_path / "go").touch()
    assert (await after)["status"] == "done"
    assert (tmp_path / "7" / "1" / "out").read_text() == "begun\n"


async def test_an_error_of_the_system_is_reported_in_its_words(new_job: NewJob, tmp_path: Path):
    (tmp_path / "7").write_text("a file where the folder should be")
    values = await new_job(Scripted(lambda _task: "true")).run()
    assert (values["status"], values["message"]) == ("error", "could not be run: Not a directory")


async def test_a_bug_in_a_kind_ends_its_command_and_keeps_its_internals(
    new_job: NewJob, capsys: pytest.CaptureFixture[str]
):
    async def fail(_desk: Desk) -> None:
        raise ZeroDivisionError("internals")

    values = await new_job(Scripted(lambda _task: "true", fail)).run()
    assert values["status"] == "error"
    assert values["message"] == "could not be run: an error of the service itself; its log has the details"
    assert "ZeroDivisionError" in "".join(capsys.readouterr())


@pytest.mark.both_databases
@pytest.mark.parametrize("is_in_a_thread", [False, True])
async def test_a_start_that_finds_no_database_waits_for_it(
    new_job: NewJob,
    database: Database,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_in_a_thread: bool,
):
    def select(connection: sa.Connection) -> int:
        return int(connection.execute(sa.text("SELECT 1")).scalar_one())

    def in_a_thread(tried: Database) -> int:
        with tried.connect() as connection:
            return select(connection)

    async def read(_desk: Desk) -> None:
        tried = reached.pop(0)
        await (asyncio.to_thread(in_a_thread, tried) if is_in_a_thread else tried.read(select))

    monkeypatch.setattr(background, "RETRY_SECONDS", 0)
    nowhere = None if database.on_sqlite else SecretStr("postgresql://127.0.0.1:1/x")
    away = Database(settings.model_copy(update={"data_dir": tmp_path / "missing", "database_url": nowhere}))
    reached = [away, away, database]
    kind = Scripted(lambda _task: "echo ran", read)
    try:
        values = await new_job(kind).run()
    finally:
        away.close()
    assert (values["status"], [item["exit_code"] for item in values["attempts"]]) == ("done", [0])
    assert [task.attempt for task in kind.tasks] == [1, 1, 1]
    assert (tmp_path / "7" / "log").read_text() == "the service's database is away: waiting for it\n"


class Outage:
    """A database that is away for some calls."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    async def pass_(self) -> None:
        if self.calls:
            self.calls -= 1
            raise DatabaseAway("away")


async def test_a_program_whose_end_finds_no_database_runs_once(
    new_job: NewJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    class ReadsAfterwards(Scripted):
        async def run(self, task: Task, desk: Desk) -> Outcome:
            outcome = await super().run(task, desk)
            await outage.pass_()
            return outcome

    monkeypatch.setattr(background, "RETRY_SECONDS", 0)
    outage = Outage(calls=2)
    values = await new_job(ReadsAfterwards(lambda _task: "echo ran; exit 3")).run()
    assert (values["message"], [item["exit_code"] for item in values["attempts"]]) == ("exited with 3", [3])
    assert (tmp_path / "7" / "1" / "out").read_text() == "ran\n"


async def test_messages_hold_only_what_every_database_stores(new_job: NewJob):
    class Loud(Scripted):
        async def run(self, task: Task, desk: Desk) -> Outcome:
            return Outcome(False, "a\x00b\ud800")

    values = await new_job(Loud(lambda _task: "true")).run()
    assert values["message"] == values["attempts"][0]["message"] == "a\ufffdb?"


def test_a_timeout_is_noticed_at_the_next_check(new_job: NewJob):
    """With a timeout of 80, checked every 60 seconds, a command is killed after 120 seconds."""

    def seconds_left(timeout: int | None, interval: float) -> tuple[float, float, float]:
        job = new_job(None, settings={"timeout_check_seconds": interval}, timeout=timeout, start_time=1000.0)
        return job.kill_in_seconds(1000.0), job.kill_in_seconds(1010.0), job.kill_in_seconds(1e9)

    left = {
        (80, 60): (120, 110, 0),
        (60, 60): (60, 50, 0),
        (1, 60): (60, 50, 0),
        (61, 60): (120, 110, 0),
        (90, 0.5): (90, 80, 0),
        (None, 60): (129_600, 129_590, 0),
    }
    assert {(timeout, interval): seconds_left(timeout, interval) for timeout, interval in left} == left


async def test_progress_is_kept_below_100_until_the_end(new_job: NewJob, notes: Notes):
    job = new_job(Scripted(lambda _task: "true"))
    job.progress(130, 5)
    assert (job.live.progress, job.live.rows, notes.progressed) == (99, 5, 1)
    job.progress(-3)
    assert job.live.progress == 0
    job.say("fetching a file")
    assert job.live.message == "fetching a file"


async def test_macros_that_add_too_much_to_the_command_end_it(new_job: NewJob):
    macros = [{"x": "y" * 10_000}]
    job = new_job(Scripted(lambda _task: "true"), command={"inline": "$x$" * 2_000}, resolved_macros=macros, retry=1)
    values = await job.run()
    assert values["status"] == "error"
    assert values["message"].startswith("could not be run: macro 'x': macros add more than")
