"""What a cell, its kernel or its surroundings can do to a run, and what the run then leaves and says."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace

import pytest
from tests.service.kinds.notebook.notebooks import DEADLINE, notebook
from tests.support.processes import is_over
from tests.support.service_process import wait_until

from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import mark_of, marked_processes

MB = 2**20
ENDLESS = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)"


def peak_memory(pid):
    """Return the largest resident memory that a process had so far, in bytes; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return max((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), default=0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


async def stopped(run, grace=10):
    process = DurableProcess.adopt(run.folder)
    await process.stop(grace)
    return await process.wait()


def test_a_kernel_that_is_killed_ends_the_run_with_what_was_shown_before(parent):
    # What a kernel says on its last breath may get lost with it: it waits until it was heard.
    run = parent.start(
        "print('kept')",
        "import os, pathlib, signal, time\n"
        "print('said', flush=True)\n"
        "while '\\nsaid\\n' not in pathlib.Path('../../log').read_text(): time.sleep(0.01)\n"
        "os.kill(os.getpid(), signal.SIGKILL)",
    )
    assert run.message == (
        "cell 2 of 2: the kernel ended while the cell ran: it was killed by signal 9 (did memory run out?)"
    )
    assert [outputs[0]["text"] for outputs in run.outputs] == ["kept\n", "said\n"]


async def test_a_stop_ends_the_kernel_and_its_children_and_keeps_the_outputs_so_far(parent):
    run = parent.start(
        "import subprocess\n"
        "children = [subprocess.Popen(['sleep', '1000'], start_new_session=apart) for apart in (False, True)]\n"
        "print(*[child.pid for child in children])",
        ENDLESS,
    )
    wait_until(lambda: "begun" in run.log, "the endless cell", DEADLINE)
    assert await stopped(run) == 128 + signal.SIGTERM
    assert next(marked_processes(run.folder), None) is None
    children = [int(number) for number in run.outputs[0][0]["text"].split()]
    assert all(map(is_over, children))
    assert run.outputs[1][0]["text"] == "begun\n"
    assert not (run.folder / "error.json").exists()


def test_a_run_that_is_killed_takes_its_kernel_with_it(parent):
    run = parent.start("import os\nprint(os.getpid())", ENDLESS)
    wait_until(lambda: "begun" in run.log, "the endless cell", DEADLINE)
    kernel = int(run.log.splitlines()[1])
    os.kill(run.pid, signal.SIGKILL)
    wait_until(lambda: is_over(kernel), "the kernel's end", DEADLINE)


def test_a_forked_process_carries_the_commands_mark(parent):
    run = parent.start(
        "import os, time, warnings\n"
        "warnings.simplefilter('ignore')\n"  # of a process with several threads that forks
        "child = os.fork()\n"
        "if child == 0:\n    os.setsid()\n    time.sleep(1000)\n"
        "while os.getsid(child) != child: time.sleep(0.01)\n"  # else the kernel's end takes it along
        "print('went on')"
    )
    assert run.text == "went on\n"
    wait_until(lambda: is_over(run.pid), "the end of the run's process", DEADLINE)
    left = list(marked_processes(run.folder))
    assert [mark_of(process) for process in left] == [str(run.folder)]
    left[0].kill()


def test_children_that_nobody_waits_for_do_not_hold_up_the_end(parent):
    run = parent.start("import subprocess\nchild = subprocess.Popen(['sleep', '1000'])\nprint(child.pid)")
    assert is_over(int(run.text))


def test_much_output_is_logged_whole_and_cut_in_the_notebook_with_flat_memory(parent):
    size = 150 * MB
    run = parent.start(f"print('x' * {size})", "print('y\\n' * 1_000_000)", "print('after')")
    peak = 0
    while not (run.folder / "rc").exists():
        peak = max(peak, peak_memory(run.pid))
    assert run.text == "after\n"
    assert peak < 400 * MB
    assert run.job.log.stat().st_size > size
    first, second = (outputs[0]["text"] for outputs in run.outputs[:2])
    assert len(first) < 20.1e6
    assert len(second) < 1e6  # each line costs more than its characters
    assert all(text.endswith("left out of the notebook; the log has all of it]\n") for text in (first, second))
    assert (run.folder / "executed.ipynb").stat().st_size < 30 * MB


def test_a_display_and_an_exception_of_any_size_are_cut(parent):
    run = parent.start("'x' * 30_000_000", "raise ValueError('y' * 30_000_000)")
    assert len(run.message) < 5000
    assert run.outputs[0][0]["data"] == {"text/plain": "[an output of 30,000,002 characters was left out]"}
    assert (run.folder / "executed.ipynb").stat().st_size < MB


def test_more_displays_than_a_notebook_should_hold_are_left_out(parent):
    run = parent.start("from IPython.display import display\nfor n in range(25): display(str(n) * 500_000)")
    assert run.code == 0
    assert [len(output["data"]["text/plain"]) > 500_000 for output in run.outputs[0]].count(True) == 24
    assert len(run.log) > 20_000_000


def test_a_cell_that_asks_for_input_learns_that_nobody_is_there(parent):
    assert parent.start("name = input('name?')").message.endswith(
        "in line 1: name = input('name?')\n"
        "nobody answers a cell that asks for input in a run; give the value as one of the run's arguments"
    )


def test_a_nearly_full_disk_ends_the_run_before_it_is_full(parent):
    run = parent.start("1", min_free_bytes=2**62)
    assert "MB are free on the service's disk; a run leaves" in run.message


def test_an_invalid_notebook_is_reported_and_not_retried(parent):
    run = parent.hand(parent.new_job("[]"))
    assert run.message == "Common/report.ipynb is not a notebook: it is not a JSON object"
    assert not run.may_retry


def test_a_notebook_of_another_program_runs_and_the_log_says_what_was_repaired(parent):
    cell = {"id": "x", "cell_type": "code", "source": "print(6 * 7)", "metadata": {"tags": None}, "outputs": None}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": [cell]})
    run = parent.hand(parent.new_job(text))
    assert run.code == 0
    assert run.log.count("the notebook was repaired: ") == 1
    assert "tags that were no list of different words were put right" in run.log
    assert "42" in (run.folder / "executed.ipynb").read_text()


def test_an_unknown_kernel_is_reported_with_those_that_are_installed(parent):
    run = parent.start("1", kernel="julia-1.9")
    assert run.message.startswith(
        "the notebook asks for the kernel 'julia-1.9', which is not installed where the service runs; installed are "
    )
    assert "by-another-way" in run.message
    assert not run.may_retry


def test_a_kernel_whose_program_is_missing_is_reported(parent):
    assert parent.start("1", kernel="no-program").message == (
        "the kernel 'no-program' could not be started: No such file or directory: /nonexistent/kernel"
    )


def test_a_kernel_that_ends_at_once_is_reported(parent):
    assert parent.start("1", kernel="ends-at-once").message == (
        "the kernel 'ends-at-once' ended while it started: it ended with code 1; the log may say why"
    )


def test_arguments_of_a_reserved_name_are_reported(parent):
    run = parent.hand(parent.new_job(notebook("1"), arguments={"class": 1}))
    assert run.message == "arguments: 'class' cannot be assigned to in python"
    assert not run.may_retry


def test_a_job_whose_folder_is_taken_is_not_run_again(parent):
    run = parent.start("print('once')")
    assert run.text == "once\n"
    with pytest.raises(AssertionError):
        parent.hand(replace(run.job))
    assert run.log.count("once\n") == 1
