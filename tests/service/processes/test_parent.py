"""What all parents of workers share; each kind's own tests run it with real jobs."""

from __future__ import annotations

import importlib
import os
import select
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.support.service_process import wait_until

from svc_jupyter.service.processes.worker_parent import END, MARK, MARK_BYTES, Without

PARENT = """
import os, sys
from collections import namedtuple
from pathlib import Path
from svc_jupyter.service.processes.worker_parent import serve
Job = namedtuple("Job", "folder log")

def read_job(line):
    folder = Path(line.decode().strip())
    return Job(folder, folder / "log")

def work(job):
    (job.folder / "environ").write_bytes(open("/proc/self/environ", "rb").read())
    (job.folder / "rehearsed").write_text(str(rehearsed))
    if job.folder.name == "fails":
        raise ValueError("of this job")
    return 3

rehearsed = False

def rehearse():
    global rehearsed
    rehearsed = True

serve(read_job, work, rehearse)
"""


ENVIRONMENT = {
    "FIRST": "1",
    MARK: MARK_BYTES * ".",
    "LAST": "2",
    "PYTHONPATH": str(Path(__file__).parents[3] / "src"),
}


def serve(*folders: Path) -> list[str]:
    """Let a parent do a job for each folder; return its answers."""
    lines = "".join(f"{folder}\n" for folder in folders)
    ended = subprocess.run(
        [sys.executable, "-c", PARENT], input=lines, capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    assert ended.stderr == ""
    return ended.stdout.splitlines()


class Parent:
    """A parent that waits for jobs."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PARENT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=ENVIRONMENT,
        )

    def __enter__(self) -> Parent:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=30)

    def spare(self) -> psutil.Process:
        """Return the worker that waits, once there is one."""
        parent = psutil.Process(self.process.pid)
        return wait_until(lambda: next(iter(parent.children()), None), "a worker that waits")

    def do(self, folder: Path) -> str:
        """Hand it a job; return its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{folder}\n")
        return self.process.stdout.readline().strip()


def until_over(folder: Path) -> str:
    """Return the exit code that a worker writes."""
    return str(wait_until(lambda: (folder / "rc").exists() and (folder / "rc").read_text(), "the end of a worker"))


def test_a_worker_shows_its_own_mark_in_place_of_the_room_its_parent_keeps(tmp_path: Path):
    assert serve(tmp_path) == ["taken"]
    assert until_over(tmp_path) == "3\n"
    shown = (tmp_path / "environ").read_bytes().split(b"\0")
    assert f"{MARK}={tmp_path}".encode() in shown
    assert (shown[0], shown[-2]) == (b"FIRST=1", b"PYTHONPATH=" + str(Path(__file__).parents[3] / "src").encode())
    assert b"LAST=2" in shown


def test_a_job_that_fails_is_logged_and_the_next_one_is_done(tmp_path: Path):
    folders = [tmp_path / name for name in ("fails", "missing", "well")]
    folders[0].mkdir()
    folders[2].mkdir()
    taken, missing, again = serve(*folders)
    assert (taken, again) == ("taken", "taken")
    assert missing.startswith("FileNotFoundError: ")
    assert until_over(folders[0]) == "70\n"
    assert "ValueError: of this job" in (folders[0] / "log").read_text()
    assert until_over(folders[2]) == "3\n"


def test_a_job_gets_the_worker_that_waits_which_has_rehearsed(tmp_path: Path):
    with Parent() as parent:
        spare = parent.spare()
        assert parent.do(tmp_path) == "taken"
        assert until_over(tmp_path) == "3\n"
        assert (tmp_path / "pid").read_text().split()[0] == str(spare.pid)
        assert (tmp_path / "rehearsed").read_text() == "True"


def test_a_worker_that_was_killed_while_it_waited_takes_no_job_with_it(tmp_path: Path):
    with Parent() as parent:
        spare = parent.spare()
        spare.kill()
        wait_until(lambda: not spare.is_running(), "its end")
        assert parent.do(tmp_path) == "taken"
        assert until_over(tmp_path) == "3\n"
        assert (tmp_path / "rehearsed").read_text() == "False"


def test_a_worker_that_waits_ends_before_its_parent():
    with Parent() as parent:
        spare = parent.spare()
    assert not spare.is_running()


def test_a_worker_that_waits_ends_with_a_parent_that_is_killed():
    with Parent() as parent:
        spare = parent.spare()
        parent.process.kill()
    wait_until(lambda: not spare.is_running(), "its end")


def test_a_module_can_be_done_without(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "meta_path", [Without("colorsys"), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with pytest.raises(ModuleNotFoundError, match="a worker does without colorsys"):
        importlib.import_module("colorsys")
    assert importlib.import_module("json").loads("1") == 1


def test_a_worker_shows_its_end_to_who_listens(tmp_path: Path):
    os.mkfifo(tmp_path / END)
    listening = os.open(tmp_path / END, os.O_RDONLY | os.O_NONBLOCK)
    try:
        serve(tmp_path)
        assert select.select([listening], [], [], 20)[0]
        assert os.read(listening, 1) == b""
    finally:
        os.close(listening)
    assert (tmp_path / "rc").read_bytes() == b"3\n"
