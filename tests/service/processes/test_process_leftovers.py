"""What a program leaves behind, or will not let go of, ends with its command."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import psutil
from tests.service.conftest import Start
from tests.support.processes import is_over
from tests.support.service_process import wait_until
from tests.support.until import until, written

from svc_jupyter.service.processes.marks import marked_processes
from svc_jupyter.service.processes.worker_parent import MARK

DAEMON = """
import os, sys, time
if os.fork(): sys.exit()
os.setsid()
if os.fork(): sys.exit()
signal_file = sys.argv[1]
for number in (0, 1, 2):
    os.dup2(os.open(os.devnull, os.O_RDWR), number)
open(signal_file + ".part", "w").write(str(os.getpid()))
os.rename(signal_file + ".part", signal_file)
time.sleep(600)
"""


async def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(start: Start, folder: Path):
    process = start("trap '' TERM; echo begun; while :; do sleep 0.02; done")
    await written(folder / "out")
    await asyncio.gather(process.stop(0.3), process.wait())
    assert await process.wait() is None
    assert not process.has_members()


async def test_children_left_in_the_group_are_ended_when_the_program_is_over(start: Start, folder: Path):
    process = start("sleep 600 & sleep 600 & echo $!; exit 0")
    assert await process.wait() == 0
    assert process.ended_leftovers
    assert not process.has_members()
    assert is_over(int((folder / "out").read_text()))


async def test_children_that_ignore_sigterm_are_killed(start: Start, folder: Path, monkeypatch):
    monkeypatch.setattr("svc_jupyter.service.processes.durable_process._LEFTOVER_GRACE_SECONDS", 0.2)
    process = start(
        f"(trap '' TERM; touch {folder}/ready; while :; do sleep 0.02; done) & "
        f"until [ -e {folder}/ready ]; do sleep 0.02; done; exit 2"
    )
    assert await process.wait() == 2
    await until(lambda: not process.has_members())


async def test_a_program_without_leftovers_says_so(start: Start):
    process = start("sleep 0.01 & wait")
    assert await process.wait() == 0
    assert not process.ended_leftovers


async def test_a_daemon_that_left_the_session_is_ended_by_a_stop(start: Start, folder: Path):
    script = folder / "daemon.py"
    script.write_text(DAEMON)
    process = start(f"{sys.executable} {script} {folder}/daemon; echo begun; sleep 600")
    daemon = psutil.Process(int((await written(folder / "daemon")).read_text()))
    assert daemon.environ()[MARK] == str(folder)
    await asyncio.gather(process.stop(5), process.wait())
    assert is_over(daemon.pid)
    assert not list(marked_processes(folder))


async def test_a_daemon_outlives_a_program_that_ends_by_itself(start: Start, folder: Path):
    """It left the group of its own will; the sweep ends it once the command is over."""
    script = folder / "daemon.py"
    script.write_text(DAEMON)
    process = start(f"{sys.executable} {script} {folder}/daemon; until [ -e {folder}/daemon ]; do sleep 0.02; done")
    assert await process.wait() == 0
    daemon = psutil.Process(int((folder / "daemon").read_text()))
    assert not is_over(daemon.pid)
    assert process.has_members()
    process.signal(signal.SIGKILL)
    wait_until(lambda: is_over(daemon.pid), "the end of the daemon")
