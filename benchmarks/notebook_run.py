"""A trivial notebook of two cells, from the request to its execution, in a fresh kernel each time.

The service is warm after the first run, as it is for a schedule that fires every minute; then it is measured cold, as
for one that fires every hour. `jupyter execute` and papermill are started for each run; Jupyter Scheduler is also a
warm service, called over HTTP.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
from nbformat.v4 import new_code_cell, new_notebook

from benchmarks import report
from benchmarks.contests import Measure, compete
from benchmarks.job_server import job_server
from benchmarks.service import Service
from benchmarks.surroundings import environment
from svc_jupyter.client import Client

WARM, COLD, REFERENCE = "JupyterNotebookCommand", "the same, first in a while", "jupyter execute"
PAPERMILL, SCHEDULER = "papermill", "Jupyter Scheduler"
NAME = "trivial.ipynb"


def run(folder: Path, *, quick: bool) -> None:
    """Print the time of a whole run."""
    rounds = 3 if quick else 10
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    content = new_notebook(cells=[new_code_cell("print('hi')"), new_code_cell("6 * 7")])
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content.metadata["kernelspec"] = kernel  # papermill requires one
    nbformat.write(content, notebooks / NAME)
    with (
        Service(folder) as service,
        job_server(folder, notebooks) as jobs,
        Client(*service.address) as client,
    ):
        client.account.set_features(jupyter_notebooks=True)
        client.jupyter_contents.upload(notebooks / NAME, to=f"Common/{NAME}")
        execute = ["-m", "jupyter", "execute", NAME, "--output", "executed.ipynb"]
        contestants = {
            WARM: _timed(lambda: _submitted(client)),
            COLD: lambda: _cold(service, client),
            REFERENCE: _timed(lambda: _program(folder, notebooks, execute)),
            PAPERMILL: _timed(lambda: _program(folder, notebooks, ["-m", "papermill", NAME, "executed.ipynb"])),
            SCHEDULER: _timed(lambda: jobs.run(NAME)),
        }
        report.contest("Submit to done", "seconds", compete(contestants, rounds), REFERENCE, report.seconds)


def _timed(function: object) -> Measure:
    assert callable(function)

    def measure() -> float:
        began = time.perf_counter()
        function()
        return time.perf_counter() - began

    return measure


def _submitted(client: Client) -> None:
    """Run the notebook as a command; the executed copy replaces the source each time."""
    command = client.commands.run("JupyterNotebookCommand", path=f"Common/{NAME}")
    command.wait()


def _cold(service: Service, client: Client) -> float:
    """Run it without the preloaded process, and load that again afterwards."""
    for child in psutil.Process(service.pid).children():
        if "svc_jupyter.service.kinds.notebook.worker" in child.cmdline():
            child.kill()
            child.wait()
    return _timed(lambda: _submitted(client))()


def _program(folder: Path, notebooks: Path, arguments: list[str]) -> None:
    subprocess.run(
        [sys.executable, *arguments],
        cwd=notebooks,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
