"""A command on the replica that owns it: attempts, timeouts, and cancellation at every moment of its life."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.service.commands.rows import command_row

from svc_jupyter.api.commands import CommandType
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.job import Job, StopReason
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.settings import Settings

Script = Callable[[Task], str]


class Scripted:
    """A command type that runs a Bash script, after whatever `prepare` does; it keeps the tasks it was given."""

    command_type = CommandType.SHELL

    def __init__(self, script: Script, prepare: Callable[[Desk], Awaitable[None]] | None = None) -> None:
        self.tasks: list[Task] = []
        self._script = script
        self._prepare = prepare

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        raise NotImplementedError

    async def run(self, task: Task, desk: Desk) -> Outcome:
        self.tasks.append(task)
        process = await desk.process(partial(self._start, task, desk))
        code = await process.wait()
        if code == 0:
            return Outcome(True, exit_code=0, result=StoredResult(ResultForm.LINES, f"{task.attempt}/out", 0))
        return Outcome(False, f"exited with {code}", code, may_retry=code != 99)

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        if self._prepare is not None:
            await self._prepare(desk)
        return DurableProcess.start(
            folder=task.folder,
            argv=["bash", "-c", self._script(task)],
            cwd=task.working_folder,
            environment={"PATH": "/usr/local/bin:/usr/bin:/bin", **task.environment},
            log=task.log_file,
        )


class Notes:
    """What a job wrote of itself while it ran."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []
        self.progressed = 0
        self.written = asyncio.Event()

    async def note(self, values: Mapping[str, Any]) -> None:
        self.values.append(dict(values))
        self.written.set()

    def on_progress(self) -> None:
        self.progressed += 1


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def new_job(tmp_path: Path, notes: Notes) -> Callable[..., Job]:
    """Makes a job; its settings may be given as `settings`."""

    def new_job(kind: Any, settings: Mapping[str, Any] | None = None, **row: Any) -> Job:
        values = {"status": "running", "start_time": time.time(), "id": 7, **row}
        given = {"data_dir": tmp_path, "timeout_check_seconds": 60, "kill_grace_seconds": 5, **(settings or {})}
        root = tmp_path / "7"
        return Job(
            command_row(**values), kind, Settings(**given), root=root, note=notes.note, on_progress=notes.on_progress
        )

    return new_job


def fails_until(attempt: int, code: int = 1) -> Script:
    return lambda task: f"echo try {task.attempt}; exit {0 if task.attempt >= attempt else code}"


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(15):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_command_that_does_well_runs_once(new_job, tmp_path: Path):
    kind = Scripted(lambda _task: "echo $SVC_COMMAND_ID")
    values = await new_job(kind, retry=3).run()
    assert (values["status"], values["progress"], values["message"]) == ("done", 100, None)
    assert values["result"]["file"] == "1/out"
    assert [item["exit_code"] for item in values["attempts"]] == [0]
    assert (tmp_path / "7" / "1" / "out").read_text() == "7\n"
    assert values["pid"] is not None


async def test_without_retries_a_failure_is_final(new_job):
    values = await new_job(Scripted(fails_until(9))).run()
    assert (values["status"], values["message"], values["progress"]) == ("error", "exited with 1", 0)
    assert [item["number"] for item in values["attempts"]] == [1]


@pytest.mark.parametrize(("retry", "status", "attempts"), [(1, "error", 2), (2, "done", 3), (3, "done", 3)])
async def test_a_failed_attempt_is_tried_again(new_job, notes: Notes, retry: int, status: str, attempts: int):
    kind = Scripted(fails_until(3))
    values = await new_job(kind, retry=retry, retry_delay=0).run()
    assert values["status"] == status
    assert [item["number"] for item in values["attempts"]] == list(range(1, attempts + 1))
    assert [task.attempt for task in kind.tasks] == list(range(1, attempts + 1))
    assert [len(item["attempts"]) for item in notes.values] == list(range(1, attempts))


async def test_each_attempt_has_a_folder_of_its_own_and_they_share_a_log(new_job, tmp_path: Path):
    await new_job(Scripted(lambda task: f"pwd; echo e{task.attempt} >&2; exit 1"), retry=1, retry_delay=0).run()
    outs = [(tmp_path / "7" / str(number) / "out").read_text() for number in (1, 2)]
    assert outs == [f"{tmp_path}/7/{number}/work\n" for number in (1, 2)]
    assert (tmp_path / "7" / "log").read_text() == (
        "e1\nattempt 1 failed: exited with 1; retry 1 of 1 in 0 min\ne2\n"
    )


async def test_a_failure_that_cannot_end_otherwise_is_not_tried_again(new_job):
    values = await new_job(Scripted(fails_until(9, code=99)), retry=3, retry_delay=0).run()
    assert (values["status"], len(values["attempts"])) == ("error", 1)


@pytest.mark.parametrize(("delay", "seconds"), [(None, 60), (5, 300)])
async def test_the_next_attempt_waits_for_its_delay(new_job, notes: Notes, delay: int | None, seconds: int):
    job = new_job(Scripted(fails_until(9)), retry=1, retry_delay=delay)
    running = asyncio.ensure_future(job.run())
    await notes.written.wait()
    planned = notes.values[0]["next_attempt_at"] - time.time()
    assert seconds - 30 < planned <= seconds
    job.stop(StopReason.CANCEL)
    values = await running
    assert (values["status"], values["message"], values["next_attempt_at"]) == ("cancelled", "cancelled", None)
    assert len(values["attempts"]) == 1, "an attempt that never began is none"


async def test_a_planned_attempt_is_made_after_a_restart(new_job):
    first = {"number": 1, "start_time": 1, "end_time": 2, "exit_code": 1, "message": "exited with 1"}
    kind = Scripted(fails_until(2))
    planned = time.time() + 0.2
    values = await new_job(kind, retry=1, attempts=[first], next_attempt_at=planned).run()
    assert [task.attempt for task in kind.tasks] == [2]
    assert values["attempts"][0] == first
    assert values["attempts"][1]["start_time"] == int(planned)
    assert values["end_time"] >= planned


async def test_a_running_attempt_is_followed_after_a_restart(new_job, tmp_path: Path):
    script = f"echo begun; until [ -e {tmp_path}/go ]; do sleep 0.02; done; exit 0"
    before = asyncio.ensure_future(new_job(Scripted(lambda _task: script)).run())
    await until(lambda: (tmp_path / "7" / "1" / "out").exists() and (tmp_path / "7" / "1" / "out").read_text())
    before.cancel()
    await asyncio.gather(before, return_exceptions=True)
    after = asyncio.ensure_future(new_job(Scripted(lambda _task: "echo twice")).run())
    (tmp_path / "go").touch()
    assert (await after)["status"] == "done"
    assert (tmp_path / "7" / "1" / "out").read_text() == "begun\n"


async def test_an_error_of_the_system_is_told_in_its_words(new_job, tmp_path: Path):
    (tmp_path / "7").write_text("a file where the folder should be")
    values = await new_job(Scripted(lambda _task: "true")).run()
    assert (values["status"], values["message"]) == ("error", "could not be run: Not a directory")


async def test_a_bug_in_a_kind_ends_its_command_and_keeps_its_internals(new_job, capsys: pytest.CaptureFixture[str]):
    async def fail(_desk: Desk) -> None:
        raise ZeroDivisionError("internals")

    values = await new_job(Scripted(lambda _task: "true", fail)).run()
    assert values["status"] == "error"
    assert values["message"] == "could not be run: an error of the service itself; its log has the details"
    assert "ZeroDivisionError" in "".join(capsys.readouterr())


async def test_messages_hold_only_what_every_database_stores(new_job):
    class Loud(Scripted):
        async def run(self, task: Task, desk: Desk) -> Outcome:
            return Outcome(False, "a\x00b\ud800")

    values = await new_job(Loud(lambda _task: "true")).run()
    assert values["message"] == values["attempts"][0]["message"] == "a\ufffdb?"


class TestStops:
    async def test_a_running_command_is_cancelled_with_what_it_started(self, new_job, tmp_path: Path):
        kind = Scripted(lambda _task: "sleep 600 & echo begun; sleep 600")
        job = new_job(kind, retry=3, retry_delay=0)
        running = asyncio.ensure_future(job.run())
        await until(lambda: (tmp_path / "7" / "1" / "out").exists() and (tmp_path / "7" / "1" / "out").read_text())
        assert job.live.pid is not None
        job.stop(StopReason.CANCEL)
        values = await running
        assert (values["status"], values["message"]) == ("cancelled", "cancelled")
        assert len(kind.tasks) == 1
        process = DurableProcess.adopt(tmp_path / "7" / "1")
        assert process is not None
        assert not process.has_members()
        assert "stopping: cancelled" in (tmp_path / "7" / "log").read_text()

    async def test_before_its_process_began_nothing_is_started(self, new_job, tmp_path: Path):
        staging = asyncio.Event()

        async def stage(_desk: Desk) -> None:
            staging.set()
            await asyncio.sleep(600)

        job = new_job(Scripted(lambda _task: "touch begun", stage))
        running = asyncio.ensure_future(job.run())
        await staging.wait()
        job.stop(StopReason.CANCEL)
        assert (await running)["status"] == "cancelled"
        assert not (tmp_path / "7" / "1" / "pid").exists()

    async def test_before_it_was_run_at_all(self, new_job):
        kind = Scripted(lambda _task: "true")
        job = new_job(kind)
        job.stop(StopReason.CANCEL)
        assert (await job.run())["status"] == "cancelled"
        assert kind.tasks == []

    async def test_one_found_again_that_is_to_be_stopped_is(self, new_job, tmp_path: Path):
        folder = tmp_path / "7" / "1"
        (folder / "work").mkdir(parents=True)
        child = DurableProcess.start(
            folder=folder, argv=["sleep", "600"], cwd=folder, environment={"PATH": "/usr/bin:/bin"}, log=folder / "log"
        )
        await until(lambda: DurableProcess.adopt(folder))
        job = new_job(Scripted(lambda _task: "true"))
        job.stop(StopReason.CANCEL)
        waiting = asyncio.ensure_future(child.wait())
        assert (await job.run())["status"] == "cancelled"
        await waiting
        assert not child.has_members()

    async def test_one_that_ended_well_before_the_stop_reached_it_is_done(self, new_job, tmp_path: Path):
        job = new_job(Scripted(lambda _task: "trap 'exit 0' TERM; echo begun; while :; do sleep 0.02; done"))
        running = asyncio.ensure_future(job.run())
        await until(lambda: (tmp_path / "7" / "1" / "out").exists() and (tmp_path / "7" / "1" / "out").read_text())
        job.stop(StopReason.CANCEL)
        assert (await running)["status"] == "done"

    async def test_the_first_reason_stays(self, new_job):
        job = new_job(Scripted(lambda _task: "true"), timeout=5)
        job.stop(StopReason.TIMEOUT)
        job.stop(StopReason.CANCEL)
        values = await job.run()
        assert values["status"] == "error"
        assert values["message"] == "timed out: ran longer than its 5 s (checked every 60 s)"

    async def test_a_timeout_is_not_tried_again(self, new_job):
        kind = Scripted(lambda _task: "sleep 600")
        job = new_job(kind, retry=3, retry_delay=0, timeout=1)
        running = asyncio.ensure_future(job.run())
        await until(lambda: job.live.pid)
        job.stop(StopReason.TIMEOUT)
        assert (await running)["status"] == "error"
        assert len(kind.tasks) == 1

    async def test_the_service_stops_and_the_process_goes_on(self, new_job, tmp_path: Path):
        job = new_job(Scripted(lambda _task: f"until [ -e {tmp_path}/go ]; do sleep 0.02; done"))
        running = asyncio.ensure_future(job.run())
        await until(lambda: (tmp_path / "7" / "1" / "pid").exists())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        process = DurableProcess.adopt(tmp_path / "7" / "1", is_child=True)
        assert process is not None
        assert process.is_running
        (tmp_path / "go").touch()
        assert await process.wait() == 0


@pytest.mark.parametrize(
    ("timeout", "interval", "ends_at"),
    [(80, 60, 120), (60, 60, 60), (1, 60, 60), (61, 60, 120), (90, 0.5, 90), (None, 60, 129_600)],
)
def test_a_timeout_is_noticed_at_the_next_check(new_job, timeout: int | None, interval: float, ends_at: float):
    """SPEC: with a timeout of 80, checked every 60 seconds, a command is killed after 120 seconds."""
    job = new_job(None, settings={"timeout_check_seconds": interval}, timeout=timeout, start_time=1000.0)
    assert job.kill_in_seconds(1000.0) == ends_at
    assert job.kill_in_seconds(1010.0) == ends_at - 10
    assert job.kill_in_seconds(1e9) == 0


async def test_progress_is_kept_below_100_until_the_end(new_job, notes: Notes):
    job = new_job(Scripted(lambda _task: "true"))
    job.progress(130, 5)
    assert (job.live.progress, job.live.rows, notes.progressed) == (99, 5, 1)
    job.progress(-3)
    assert job.live.progress == 0
    job.say("fetching a file")
    assert job.live.message == "fetching a file"
