"""What all parents of workers share; each kind's own tests run it with real jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.service_process import wait_until

from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import marked_processes

PARENT = """
import os, time
from collections import namedtuple
from pathlib import Path
from svc_jupyter.service.processes.worker_parent import serve
Job = namedtuple("Job", "folder log")

def read_job(line):
    folder = Path(line.decode().strip())
    return Job(folder, folder / "log")

def work(job):
    if job.folder.name == "fails":
        raise ValueError("of this job")
    (job.folder / "environ").write_text(os.environ["SVC_COMMAND_MARK"])
    if (work := job.folder / "work").exists():
        os.chdir(work)
    if job.folder.name == "waits":
        os.fork()
        while not (job.folder / "go").exists():
            time.sleep(0.02)
    return 3

serve(read_job, work)
"""


ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[3] / "src")}


def serve(*folders: Path) -> list[str]:
    """Let a parent do a job for each folder; return its answers."""
    lines = "".join(f"{folder}\n" for folder in folders)
    ended = subprocess.run(
        [sys.executable, "-c", PARENT], input=lines, capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    assert ended.stderr == ""
    return ended.stdout.splitlines()


def until_over(folder: Path) -> str:
    """Return the exit code that a worker writes."""
    return str(wait_until(lambda: (folder / "rc").exists() and (folder / "rc").read_text(), "the end of a worker"))


def number_of(folder: Path) -> int:
    """Return the number of a folder's worker."""
    return int((folder / "pid").read_text().split()[0])


@pytest.fixture(params=["waits", "waits/work"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Yield the folder of a worker that waits for `go`, there or in a working folder below; then end the worker."""
    (tmp_path / request.param).mkdir(parents=True)
    yield tmp_path / "waits"
    (tmp_path / "waits" / "go").touch()


def test_a_worker_and_what_it_forks_are_found_by_the_folder_that_their_programs_get_as_their_mark(folder: Path):
    assert serve(folder) == ["taken"]
    wait_until(lambda: len(list(marked_processes(folder))) == 2, "a worker and what it has forked")
    assert {os.getsid(process.pid) for process in marked_processes(folder)} == {number_of(folder)}
    assert (folder / "environ").read_text() == str(folder)
    (folder / "go").touch()
    assert until_over(folder) == "3\n"
    wait_until(lambda: not list(marked_processes(folder)), "the end of both")


async def test_a_worker_whose_number_was_damaged_is_found(folder: Path):
    assert serve(folder) == ["taken"]
    worker = number_of(folder)
    (folder / "pid").write_text("x\n")
    found = DurableProcess.adopt(folder)
    assert found is not None
    assert (found.pid, found.is_running) == (worker, True)
    (folder / "go").touch()
    assert await found.wait() == 3


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
