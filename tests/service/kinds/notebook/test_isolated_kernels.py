"""Kernels in a sandbox: what a run of them does as any other run."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace

from tests.service.isolation.test_isolation import NEEDS_BUBBLEWRAP
from tests.service.kinds.notebook.notebooks import DEADLINE, notebook
from tests.support.service_process import wait_until

from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.marks import marked_processes

pytestmark = NEEDS_BUBBLEWRAP
ENDLESS = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)"
KILLED = "cell 1 of 1: the kernel ended while the cell ran: it was killed by signal 9 (did memory run out?)"


def start(parent, *cells, kernel=None):
    return parent.hand(parent.isolated(parent.new_job(notebook(*cells, kernel=kernel))))


def is_over(run):
    return next(marked_processes(run.folder), None) is None


def test_the_kernel_has_its_own_environment_and_ends_in_good_order_with_what_it_left(parent):
    run = start(
        parent,
        "import atexit, json, os, pathlib, subprocess, sys\n"
        "atexit.register(pathlib.Path('bye').touch)\n"
        "pathlib.Path('~/kept').expanduser().touch()\n"
        "left = [subprocess.Popen(['sleep', '1000'], start_new_session=apart) for apart in (False, True)]\n"
        "names = sorted(name for name in os.environ if name.startswith(('SVC_', 'JUPYTER_')))\n"
        "modules = [name for name in sys.modules if name.startswith(('svc_jupyter', 'nbformat', 'nbclient'))]\n"
        "print(json.dumps([names, modules, os.getcwd(), sys.argv[0], __name__, os.listdir('..')]))",
    )
    names, modules, folder, program, module, beside = json.loads(run.text)
    assert (names, modules) == (["SVC_COMMAND_ID", "SVC_COMMAND_MARK"], [])
    assert (folder, program, module) == (str(run.folder / "work"), "ipykernel_launcher.py", "__main__")
    assert set(beside) == {"kernel", "work"}
    assert (run.folder / "work" / "bye").exists()
    assert (run.folder.parents[1] / "homes" / "1" / "kept").exists()
    assert not (run.folder / "kernel").exists()
    wait_until(lambda: is_over(run), "the end of what was left")
    assert run.log.count("\n") == 3, run.log


def test_another_language_and_another_python_run_in_a_sandbox_too(parent):
    assert start(parent, "touch $HOME/kept", kernel="small-bash").code == 0
    assert start(parent, "echo $HOME; ls $HOME", kernel="small-bash").text.endswith("/homes/1\nkept\n")
    run = start(
        parent,
        "import os\nprint(os.environ['ADDED'])",
        "import warnings\nwarnings.warn('careful')",
        kernel="by-another-way",
    )
    assert run.message.startswith("cell 2 of 2 showed a warning: UserWarning: careful")
    assert run.outputs[0][0]["text"] == f"{run.folder.parents[1]}/homes/1/x\n"


def test_a_kernel_that_is_killed_is_reported_as_such(parent):
    assert start(parent, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)").message == KILLED


async def test_a_stop_ends_the_kernel_and_keeps_the_outputs_so_far(parent):
    run = start(parent, ENDLESS)
    wait_until(lambda: "begun" in run.log, "the endless cell", DEADLINE)
    process = DurableProcess.adopt(run.folder)
    await process.stop(10)
    assert await process.wait() == 128 + signal.SIGTERM
    assert is_over(run)
    assert run.outputs[0][0]["text"] == "begun\n"


def test_a_run_that_is_killed_takes_its_kernel_with_it(parent):
    run = start(parent, ENDLESS)
    wait_until(lambda: "begun" in run.log, "the endless cell", DEADLINE)
    assert len(list(marked_processes(run.folder))) > 1
    os.kill(run.pid, signal.SIGKILL)
    wait_until(lambda: is_over(run), "the kernel's end", DEADLINE)


def test_a_sandbox_that_cannot_be_made_and_a_program_that_it_does_not_show_are_reported(parent):
    job = parent.isolated(parent.new_job(notebook("1")))
    place = job.sandbox.index("--bind")
    without = [*job.sandbox[: place + 1], "/nonexistent", *job.sandbox[place + 2 :]]
    message = parent.hand(replace(job, sandbox=without)).message
    assert message.startswith("the kernel's sandbox could not be made, so no cell ran:\nbwrap: Can't find source path")
    assert start(parent, "1", kernel="no-program").message == (
        "the kernel 'no-program' ended while it started: its program is not in the sandbox, which shows the folders of "
        "SVC_ISOLATION_READABLE, too; the log may say why"
    )
