"""The runs' parent: what it has loaded, what its workers show of themselves, and the service's side of it."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil
from tests.service.kinds.notebook.notebooks import DEADLINE
from tests.support.processes import open_files
from tests.support.service_process import wait_until

from svc_jupyter.service.kinds.notebook.job import RunJob
from svc_jupyter.service.kinds.notebook.kind import RunWorkers
from svc_jupyter.service.processes.marks import mark_of
from svc_jupyter.service.processes.worker_parent import from_line, to_line

ENDLESS = "import time\nwhile True: time.sleep(0.01)"


def test_a_job_crosses_the_pipe_as_it_is(tmp_path):
    job = RunJob(tmp_path, tmp_path / "log", "Common/ä.ipynb", {"a": "x\n\u2028", "b": True, "c": 1.5}, {"E": "e"}, 5)
    assert to_line(job).count(b"\n") == 1
    assert from_line(RunJob, to_line(job)) == job


def test_a_run_and_its_kernel_carry_the_commands_mark_and_nothing_of_the_parents(parent):
    run = parent.start(ENDLESS)
    wait_until(lambda: "cell 1 of 1" in run.log, "the endless cell", DEADLINE)
    process = psutil.Process(run.pid)
    kernel = process.children()[0]
    try:
        assert mark_of(process) == mark_of(kernel) == str(run.folder)
        assert mark_of(parent.process) is None
        assert kernel.cwd() == str(run.folder / "work")
        inherited = {os.readlink(f"/proc/{parent.process.pid}/fd/{number}") for number in (0, 1)}
        for member in (process, kernel):
            assert not open_files(member.pid) & inherited
    finally:
        process.terminate()
    assert run.code == 128 + 15


def test_a_parent_that_forks_has_one_thread(parent):
    parent.start("1").code  # noqa: B018
    assert parent.process.num_threads() == 1


def test_the_parent_does_not_import_from_where_the_service_was_started(tmp_path):
    (tmp_path / "nbformat.py").write_text("raise SystemExit('the wrong one')")
    ended = subprocess.run(
        [sys.executable, "-m", "svc_jupyter.service.kinds.notebook.worker"],
        input=b"",
        capture_output=True,
        cwd=tmp_path,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


async def test_the_service_starts_a_run_and_waits_for_its_end(parent):
    job = parent.new_job("[]")
    workers = RunWorkers({"PATH": os.environ["PATH"]})
    try:
        process = await workers.start(job)
        assert await process.wait() == 1
    finally:
        await workers.stop()
    assert "is not a notebook" in (job.folder / "error.json").read_text()
