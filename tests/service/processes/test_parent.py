"""What all parents of workers share; each kind's own tests run it with real jobs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.service_process import wait_until

from svc_jupyter.service.processes.worker_parent import MARK, MARK_BYTES

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
    if job.folder.name == "fails":
        raise ValueError("of this job")
    return 3

serve(read_job, work)
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
