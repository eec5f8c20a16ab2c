"""Cancellation and timeouts at every moment of a command's life."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.service.commands.jobs import NewJob
from tests.service.commands.scripted import Scripted
from tests.support.until import until, written

from svc_jupyter.service.commands.ends import StopReason
from svc_jupyter.service.commands.kind import Desk, Task
from svc_jupyter.service.ground import background
from svc_jupyter.service.ground.errors import DatabaseAway
from svc_jupyter.service.processes.durable_process import DurableProcess


async def test_a_running_command_is_cancelled_with_what_it_started(new_job: NewJob, tmp_path: Path):
    kind = Scripted(lambda _task: "sleep 600 & echo begun; sleep 600")
    job = new_job(kind, retry=3, retry_delay=0)
    running = asyncio.ensure_future(job.run())
    await written(tmp_path / "7" / "1" / "out")
    assert job.live.pid is not None
    job.stop(StopReason.CANCEL)
    values = await running
    assert (values["status"], values["message"]) == ("cancelled", "cancelled")
    assert len(kind.tasks) == 1
    process = DurableProcess.adopt(tmp_path / "7" / "1")
    assert process is not None
    assert not process.has_members()
    assert "stopping: cancelled" in (tmp_path / "7" / "log").read_text()


async def test_a_command_that_is_still_being_staged_starts_nothing(new_job: NewJob, tmp_path: Path):
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


async def test_a_command_stopped_before_it_was_run_is_not_run(new_job):
    kind = Scripted(lambda _task: "true")
    job = new_job(kind)
    job.stop(StopReason.CANCEL)
    assert (await job.run())["status"] == "cancelled"
    assert kind.tasks == []


async def test_a_command_that_waits_for_the_database_is_cancelled_at_once(new_job: NewJob, tmp_path: Path):
    async def is_away(_desk: Desk) -> None:
        raise DatabaseAway("away")

    job = new_job(Scripted(lambda _task: "touch begun", is_away))
    running = asyncio.ensure_future(job.run())
    await until(lambda: job.live.message == "the service's database is away: waiting for it")
    job.stop(StopReason.CANCEL)
    assert (await running)["status"] == "cancelled"
    assert not (tmp_path / "7" / "1" / "pid").exists()


async def test_remote_work_of_a_cancelled_command_is_ended_once_the_database_is_there(
    new_job: NewJob, monkeypatch: pytest.MonkeyPatch
):
    class Remote(Scripted):
        def __init__(self) -> None:
            super().__init__(lambda _task: "sleep 600")
            self.outages = 2
            self.ended: list[int] = []

        async def end_remote(self, task: Task) -> None:
            if self.outages:
                self.outages -= 1
                raise DatabaseAway("away")
            self.ended.append(task.attempt)

    monkeypatch.setattr(background, "RETRY_SECONDS", 0)
    kind = Remote()
    job = new_job(kind)
    running = asyncio.ensure_future(job.run())
    await until(lambda: job.live.pid is not None)
    job.stop(StopReason.CANCEL)
    assert (await running)["status"] == "cancelled"
    assert kind.ended == [1]


async def test_a_process_found_again_that_is_to_be_stopped_is(new_job: NewJob, tmp_path: Path):
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


async def test_a_process_is_stopped_also_when_the_stop_comes_just_before_it_is_found_again(
    new_job: NewJob, tmp_path: Path
):
    folder = tmp_path / "7" / "1"
    (folder / "work").mkdir(parents=True)
    child = DurableProcess.start(
        folder=folder, argv=["sleep", "600"], cwd=folder, environment={"PATH": "/usr/bin:/bin"}, log=folder / "log"
    )
    await until(lambda: DurableProcess.adopt(folder))
    kind = Scripted(lambda _task: "true")
    job = new_job(kind, timeout=1)
    running = asyncio.ensure_future(job.run())
    asyncio.get_running_loop().call_soon(
        job.stop, StopReason.TIMEOUT
    )  # as an overdue timer does: before its first step
    waiting = asyncio.ensure_future(child.wait())
    assert (await running)["status"] == "error"
    assert kind.tasks == []
    await waiting
    assert not child.has_members()


async def test_one_that_ended_well_before_the_stop_reached_it_is_done(new_job: NewJob, tmp_path: Path):
    job = new_job(Scripted(lambda _task: "trap 'exit 0' TERM; echo begun; while :; do sleep 0.02; done"))
    running = asyncio.ensure_future(job.run())
    await written(tmp_path / "7" / "1" / "out")
    job.stop(StopReason.CANCEL)
    assert (await running)["status"] == "done"


async def test_the_first_reason_stays(new_job):
    job = new_job(Scripted(lambda _task: "true"), timeout=5)
    job.stop(StopReason.TIMEOUT)
    job.stop(StopReason.CANCEL)
    values = await job.run()
    assert values["status"] == "error"
    assert values["message"] == "timed out: ran longer than its 5 s (checked every 60 s)"


async def test_a_timeout_is_not_tried_again(new_job):
    kind = Scripted(lambda _task: "sleep 600")
    job = new_job(kind, retry=3, retry_delay=0, timeout=1)
    running = asyncio.ensure_future(job.run())
    await until(lambda: job.live.pid is not None)
    job.stop(StopReason.TIMEOUT)
    assert (await running)["status"] == "error"
    assert len(kind.tasks) == 1


async def test_when_the_service_stops_the_process_goes_on(new_job: NewJob, tmp_path: Path):
    job = new_job(Scripted(lambda _task: f"until [ -e {tmp_path}/go ]; do sleep 0.02; done"))
    running = asyncio.ensure_future(job.run())
    await written(tmp_path / "7" / "1" / "pid")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    process = DurableProcess.adopt(tmp_path / "7" / "1", is_child=True)
    assert process is not None
    assert process.is_running
    (tmp_path / "go").touch()
    assert await process.wait() == 0
