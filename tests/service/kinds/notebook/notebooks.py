"""Notebooks to run, and a worker parent that runs them one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import nbformat
import psutil
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tests.support.service_process import wait_until

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.isolation.isolation import Isolation
from svc_jupyter.service.kinds.notebook.job import ERROR_FILE, EXECUTED_FILE, KERNEL_FOLDER, SOURCE_FILE, RunJob
from svc_jupyter.service.processes.worker_parent import MARK, to_line

DEADLINE = 60.0


def code(source: str, *tags: str) -> NotebookNode:
    """Return a code cell."""
    return new_code_cell(source, metadata={"tags": list(tags)} if tags else {})


def notebook(*cells: str | NotebookNode, kernel: str | None = None) -> NotebookNode:
    """Return a notebook; texts are its code cells."""
    metadata = {} if kernel is None else {"kernelspec": {"name": kernel, "display_name": kernel}}
    return new_notebook(cells=[code(cell) if isinstance(cell, str) else cell for cell in cells], metadata=metadata)


def prose(text: str) -> NotebookNode:
    """Return a cell that is not run."""
    return new_markdown_cell(text)


@dataclass(frozen=True)
class Run:
    """A run that has begun."""

    job: RunJob

    @property
    def folder(self) -> Path:
        return self.job.folder

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text().split()[0])

    @property
    def code(self) -> int:
        """The exit code; waits for it."""
        file = self.folder / "rc"
        return int(wait_until(lambda: file.exists() and file.read_text(), "the end of a run", DEADLINE))

    @property
    def log(self) -> str:
        return self.job.log.read_text() if self.job.log.exists() else ""

    @property
    def message(self) -> str:
        """Why it failed."""
        assert self.code == 1, self.log
        return str(json.loads((self.folder / ERROR_FILE).read_text())["message"])

    @property
    def may_retry(self) -> bool:
        return bool(json.loads((self.folder / ERROR_FILE).read_text())["may_retry"])

    @property
    def text(self) -> str:
        """The text result of a run that succeeded."""
        assert self.code == 0, (self.log, self.message)
        return (self.folder / "result.txt").read_text()

    @property
    def executed(self) -> NotebookNode:
        return nbformat.read(self.folder / EXECUTED_FILE, as_version=4)

    @property
    def outputs(self) -> list[list[dict[str, Any]]]:
        """The outputs of each code cell, as they are in the file now."""
        return [cell["outputs"] for cell in self.executed.cells if cell.cell_type == "code"]


class WorkerParent:
    """The worker processes' parent, fed as the service feeds it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "PYTEST_"))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "svc_jupyter.service.kinds.notebook.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**kept, "JUPYTER_PATH": str(folder)},
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self._process.pid)

    def new_job(self, source: NotebookNode | str, **fields: Any) -> RunJob:
        """Return a job with a folder of its own."""
        self._count += 1
        folder = self._folder / str(self._count) / "1"
        (folder / "work").mkdir(parents=True)
        text = source if isinstance(source, str) else nbformat.writes(source)
        (folder / SOURCE_FILE).write_text(text)
        job = RunJob(folder, folder.parent / "log", "Common/report.ipynb", environment={"SVC_COMMAND_ID": "7"})
        return replace(job, **fields)

    def isolated(self, job: RunJob) -> RunJob:
        """Return a job with a sandbox, as the service makes it."""
        settings = Settings(data_dir=self._folder, isolation="on", isolation_readable=[Path(__file__).parent])
        kernel = job.folder / KERNEL_FOLDER
        kernel.mkdir()
        isolation = Isolation.of(settings)
        sandbox = isolation.sandbox(job.folder, job.folder / "work", 1, writable=[kernel])
        environment = {**isolation.environment(os.environ), **job.environment, **sandbox.variables}
        return replace(
            job,
            environment={**environment, MARK: str(job.folder)},
            sandbox=sandbox.child_argv(()),
        )

    def start(self, *cells: str | NotebookNode, kernel: str | None = None, **fields: Any) -> Run:
        """Start a run of some cells."""
        return self.hand(self.new_job(notebook(*cells, kernel=kernel), **fields))

    def hand(self, job: RunJob) -> Run:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(to_line(job))
        self._process.stdin.flush()
        assert self._process.stdout.readline() == b"taken\n"
        return Run(job)
