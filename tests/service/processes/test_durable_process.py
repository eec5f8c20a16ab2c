"""A durable process: one run, its output and its exit code, whoever looks for them and when."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.service.conftest import Start
from tests.support.service_process import wait_until
from tests.support.until import until, written

from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import mark_of, marked_processes
from svc_jupyter.service.processes.worker_parent import MARK

DAMAGED = [b"no number\n", b"\xff\xfe\n", b"\n", b"0\n", b"1\n", b"-5\n", b"99999999999\n", b"12 of three words\n"]
"""What somebody may have written over the number of a process."""


def run(script: str, folder: Path) -> DurableProcess:
    """Run a script that leaves nothing behind, in a folder of its own."""
    folder.mkdir()
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    return DurableProcess.start(
        folder=folder, argv=["bash", "-c", script], cwd=folder, environment=environment, log=folder / "log"
    )


async def test_the_exit_code_is_the_programs(tmp_path: Path):
    codes = [0, 1, 3, 124, 125, 126, 255]
    processes = [run(f"exit {code}", tmp_path / f"{code}") for code in codes]
    assert [await process.wait() for process in processes] == codes
    assert [process.is_running for process in processes] == [False] * len(codes)


async def test_output_and_errors_are_kept_apart(start: Start, folder: Path):
    assert await start("echo out; echo err >&2; cat; pwd; echo $GIVEN", GIVEN="given").wait() == 0
    assert (folder / "out").read_text() == f"out\n{folder / 'work'}\ngiven\n"
    assert (folder.parent / "log").read_text() == "err\n"


async def test_errors_are_appended_to_the_log_of_earlier_attempts(start: Start, folder: Path):
    (folder.parent / "log").write_text("attempt 1 failed\n")
    await start("echo again >&2").wait()
    assert (folder.parent / "log").read_text() == "attempt 1 failed\nagain\n"


async def test_the_files_are_the_users_alone(start: Start, folder: Path):
    await start("echo secret; echo secret >&2").wait()
    assert [oct(file.stat().st_mode & 0o777) for file in (folder / "out", folder.parent / "log")] == ["0o600"] * 2


async def test_a_program_ended_by_a_signal_shows_128_and_its_number(tmp_path: Path):
    codes = {signal.SIGKILL: 137, signal.SIGSEGV: 139, signal.SIGTERM: 143}
    processes = {number: run(f"kill -{number.value} $$", tmp_path / number.name) for number in codes}
    assert {number: await process.wait() for number, process in processes.items()} == codes


async def test_signals_that_a_service_ignores_are_as_usual_for_its_programs(start: Start, folder: Path):
    assert await start("trap; yes | head -n 1").wait() == 0
    assert (folder / "out").read_text() == "y\n"


async def test_a_killed_wrapper_ends_what_it_watched_over(start: Start, folder: Path):
    process = start("echo begun; sleep 600")
    await written(folder / "out")
    os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() is None
    assert process.ended_leftovers
    assert not process.has_members()


async def test_a_second_start_in_a_folder_runs_nothing_and_follows_the_first(start: Start, folder: Path):
    first = start(f"echo run; until [ -e {folder}/go ]; do sleep 0.02; done; exit 4")
    await written(folder / "pid")
    second = start("echo run; exit 5")
    ends = asyncio.gather(first.wait(), second.wait())
    await until(lambda: second.pid == first.pid)
    (folder / "go").touch()
    assert await ends == [4, 4]
    assert (folder / "out").read_text() == "run\n"


async def test_many_starts_at_once_run_once(start: Start, folder: Path):
    processes = [start("echo run; exit 6") for _ in range(12)]
    assert await asyncio.gather(*(process.wait() for process in processes)) == [6] * 12
    assert (folder / "out").read_text() == "run\n"


async def test_a_working_folder_that_is_gone_is_reported_by_the_exit_code(start: Start, folder: Path):
    (folder / "work").rmdir()
    assert await start("echo run").wait() == 125
    assert (folder / "out").read_text() == ""


async def test_a_folder_that_takes_no_process_number_runs_nothing(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """As on a full disk, where the file is made and stays empty."""
    monkeypatch.setattr("svc_jupyter.service.processes.durable_process._PID_SECONDS", 0.1)
    (folder / "pid").touch()
    with pytest.raises(OSError, match="nothing could be written"):
        await start("echo run").wait()
    assert (folder / "out").read_text() == ""


async def test_an_exit_code_that_could_not_be_written_is_known_to_the_parent(start: Start, folder: Path):
    process = start(f"ln -s {folder}/missing/rc {folder}/rc; exit 9")
    assert await process.wait() == 9


def test_a_program_that_the_system_cannot_start_is_an_os_error(folder: Path):
    with pytest.raises(OSError, match=r"(?i)argument list too long"):
        DurableProcess.start(
            folder=folder, argv=["true", "x" * 3_000_000], cwd=folder, environment={}, log=folder / "log"
        )


def adopted(folder: Path, numbers: list[bytes]) -> dict[bytes, DurableProcess | None]:
    """Look for the process of a folder with each of these in the place of its number."""
    found = {}
    for text in numbers:
        (folder / "pid").write_bytes(text)
        found[text] = DurableProcess.adopt(folder)
    return found


class TestFoundAgain:
    """By a service that did not start it."""

    async def test_a_running_one_is_followed_to_its_end(self, start: Start, folder: Path):
        start(f"while [ ! -e {folder}/go ]; do sleep 0.02; done; exit 7")
        await written(folder / "pid")
        found = DurableProcess.adopt(folder)
        assert found is not None
        assert found.is_running
        waiting = asyncio.ensure_future(found.wait())
        done, _ = await asyncio.wait({waiting}, timeout=0.1)
        assert not done
        (folder / "go").touch()
        assert await waiting == 7

    async def test_an_ended_one_still_shows_its_exit_code(self, start: Start, folder: Path):
        await start("exit 8").wait()
        found = DurableProcess.adopt(folder)
        assert found is not None
        assert not found.is_running
        assert await found.wait() == 8

    async def test_one_without_an_exit_code_is_reported_as_lost(self, start: Start, folder: Path):
        process = start("echo begun; sleep 600")
        await written(folder / "out")
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        found = DurableProcess.adopt(folder)
        assert found is not None
        assert await found.wait() is None

    def test_none_is_found_where_none_was_started(self, folder: Path):
        assert DurableProcess.adopt(folder) is None

    def test_an_incomplete_pid_file_is_not_adopted(self, folder: Path):
        assert adopted(folder, [b"", b"12"]) == {b"": None, b"12": None}

    async def test_a_running_one_whose_number_was_damaged_is_found_by_its_mark(self, start: Start, folder: Path):
        child = start(f"setsid sleep 600 & while [ ! -e {folder}/go ]; do sleep 0.02; done; kill $!; exit 7")
        await written(folder / "pid")
        found = adopted(folder, DAMAGED)
        known = {text: process and (process.pid, process.is_running) for text, process in found.items()}
        assert known == dict.fromkeys(DAMAGED, (child.pid, True))
        (folder / "go").touch()
        ends = await asyncio.gather(child.wait(), *(process.wait() for process in found.values() if process))
        assert ends == [7] * (1 + len(DAMAGED))

    async def test_an_ended_one_whose_number_was_damaged_still_shows_its_exit_code(self, start: Start, folder: Path):
        await start("exit 8").wait()
        found = adopted(folder, DAMAGED)
        ends = {text: process and (process.is_running, await process.wait()) for text, process in found.items()}
        assert ends == dict.fromkeys(DAMAGED, (False, 8))

    async def test_one_of_which_nothing_is_known_any_more_is_reported_in_words(self, folder: Path):
        found = adopted(folder, DAMAGED)
        assert [text for text, process in found.items() if process is None] == []

        async def refusal(process: DurableProcess) -> tuple[bool, str]:
            await process.stop(0)
            with pytest.raises(OSError, match=r".") as refused:
                await process.wait()
            return process.has_members(), str(refused.value)

        ends = {text: await refusal(process) for text, process in found.items() if process}
        assert {text: end for text, end in ends.items() if end[0] or "pid is damaged" not in end[1]} == {}

    async def test_a_running_one_is_known_whatever_the_wall_clock_was_set_to(
        self, start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
    ):
        """The system's tale of when a process started moves with the clock; what was written in files does not."""
        child = start("sleep 600")
        await written(folder / "pid")
        told = psutil.Process.create_time
        monkeypatch.setattr(psutil.Process, "create_time", lambda process: told(process) + 10)
        found = DurableProcess.adopt(folder)
        assert found is not None
        assert found.is_running
        await asyncio.gather(found.stop(5), child.wait())

    async def test_another_process_with_the_same_number_is_not_mistaken_for_it(self, folder: Path):
        with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:  # noqa: ASYNC220
            try:
                (folder / "pid").write_text(f"{other.pid}\n")
                found = DurableProcess.adopt(folder)
                assert found is not None
                assert not found.is_running
                assert await found.wait() is None
                await found.stop(0)
                assert other.poll() is None
            finally:
                other.kill()

    async def test_it_can_be_stopped(self, start: Start, folder: Path):
        child = start("echo begun; sleep 600")
        await written(folder / "out")
        found = DurableProcess.adopt(folder)
        assert found is not None
        await asyncio.gather(found.stop(5), child.wait())
        assert await found.wait() == 128 + signal.SIGTERM
        assert not found.has_members()


async def test_an_ended_child_does_not_stay_as_a_zombie(start: Start):
    process = start("exit 0")
    await process.wait()
    assert not psutil.pid_exists(process.pid)


async def test_the_processes_of_a_command_carry_its_mark(start: Start, folder: Path):
    process = start("echo begun; exec sleep 600")
    await written(folder / "out")
    # A process has no environment for a moment while it begins another program.
    await until(lambda: len(list(marked_processes(folder))) == 2)
    assert process.pid in {item.pid for item in marked_processes(folder)}
    assert mark_of(psutil.Process(process.pid)) == str(folder)
    assert mark_of(psutil.Process()) == os.environ.get(MARK)
    await process.stop(1)
    await process.wait()
    wait_until(lambda: not list(marked_processes(folder)), "the end of the marked processes")


async def test_a_stop_looks_through_all_processes_beside_the_event_loop(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """Each look reads the environment of every process of the machine."""
    threads: set[int] = set()

    def noted(of: Path | None = None) -> Iterator[psutil.Process]:
        threads.add(threading.get_ident())
        return marked_processes(of)

    monkeypatch.setattr("svc_jupyter.service.processes.durable_process.marked_processes", noted)
    process = start("echo begun; sleep 600")
    await written(folder / "out")
    await asyncio.gather(process.stop(5), process.wait())
    assert threads
    assert threading.get_ident() not in threads


async def test_a_stop_gives_the_program_time_to_clean_up(start: Start, folder: Path):
    process = start("trap 'trap \"\" TERM; echo cleaned; exit 11' TERM; echo begun; while :; do sleep 0.02; done")
    await written(folder / "out")
    # The test's own time limit would be over before that of a stop that waits for all of it.
    await asyncio.gather(process.stop(3600), process.wait())
    assert (folder / "out").read_text() == "begun\ncleaned\n"
    assert await process.wait() == 11
