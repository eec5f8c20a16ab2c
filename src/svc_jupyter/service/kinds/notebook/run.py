"""One run of a notebook inside its process: from the source to the executed notebook and the outcome."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from svc_jupyter.files import write_whole
from svc_jupyter.service.isolation import bubblewrap
from svc_jupyter.service.kinds.notebook import failures, kernels
from svc_jupyter.service.kinds.notebook.cells import CellEnd, Cells
from svc_jupyter.service.kinds.notebook.failures import RAISES_EXCEPTION, CellPosition, RunFailure
from svc_jupyter.service.kinds.notebook.job import (
    ERROR_FILE,
    EXECUTED_FILE,
    KERNEL_FOLDER,
    PROGRESS_FILE,
    SOURCE_FILE,
    SUMMARY_FILE,
    TEXT_FILE,
    RunJob,
)
from svc_jupyter.service.kinds.notebook.kernels import ChosenKernel, Kernel
from svc_jupyter.service.kinds.notebook.notebook_file import ExecutedFile, read_notebook
from svc_jupyter.service.kinds.notebook.outputs import Budget, last_text
from svc_jupyter.service.kinds.notebook.parameters import inject
from svc_jupyter.service.processes.worker_parent import WORKING_FOLDER

_SKIP = "skip-execution"
"""The tag of a cell to skip, as in nbclient."""
_SIGNALLED = 128
_CLEAN_EXITS = ("", "0", "None")
_SHOWN_CHARACTERS = 120
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LOOK_BYTES = 4 * 2**20


def run(job: RunJob) -> int:
    """Run the notebook of a job in this process; return the exit code. The answer is in the job's folder."""
    if not job.sandbox:
        os.environ.update(job.environment)
    os.chdir(job.folder / WORKING_FOLDER)
    (job.folder / KERNEL_FOLDER).mkdir(exist_ok=True)
    try:
        log = RunLog(job.folder, job.min_free_bytes)
        notebook, repairs = read_notebook((job.folder / SOURCE_FILE).read_text("utf-8"), job.notebook)
        if repairs:
            log.line(repairs)
        chosen = kernels.choose(notebook.metadata)
        if job.python is not None:
            chosen = chosen.of_environment(job.python)
        if note := inject(notebook, job.arguments, chosen.language):
            log.line(note)
        prepared = NotebookRun(job, notebook, log)
        chosen = chosen.losing_nothing()
        if job.sandbox:
            chosen = chosen.isolated(job.sandbox, job.folder)
        return asyncio.run(prepared.run(chosen))
    except RunFailure as failure:
        _write(job.folder / ERROR_FILE, {"message": failure.message, "may_retry": failure.may_retry})
        return 1
    finally:
        shutil.rmtree(job.folder / KERNEL_FOLDER, ignore_errors=True)


class NotebookRun:
    """A run in progress."""

    def __init__(self, job: RunJob, notebook: NotebookNode, log: RunLog) -> None:
        self._job = job
        self._folder = job.folder
        self._notebook = notebook
        self._log = log
        self._executed = ExecutedFile(job.folder / EXECUTED_FILE, notebook, min_free_bytes=job.min_free_bytes)
        self._steps = [index for index, cell in enumerate(notebook.cells) if _is_run(cell)]
        for cell in notebook.cells:
            if cell.cell_type == "code":  # outputs of an earlier run would look like this one's
                cell.outputs, cell.execution_count = [], None
        self._executed.save()

    async def run(self, chosen: ChosenKernel) -> int:
        """Run all cells; return the exit code, 128 + N when signal N ended the run. Raises `RunFailure`."""
        task = asyncio.current_task()
        assert task is not None
        received: list[int] = []
        for number in _ENDING_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, _cancel_once, task, received, number)
        try:
            kernel = await _started(self._job, chosen)
            try:
                await self._run_in(kernel, chosen)
            except RunFailure:
                await kernel.shut_down()
                raise
            await kernel.shut_down()
        except asyncio.CancelledError:
            return _SIGNALLED + received[0]
        finally:
            _ignore_further_signals()
        return 0

    async def _run_in(self, kernel: Kernel, chosen: ChosenKernel) -> None:
        try:
            information = await kernels.connect(kernel, chosen.name)
        except RunFailure as failure:
            if self._job.sandbox and (reason := bubblewrap.last_words(self._job.log)):
                raise RunFailure(f"the kernel's sandbox could not be made, so no cell ran:\n{reason}") from failure
            raise
        self._notebook.metadata["language_info"] = information["language_info"]
        cells = Cells(self._notebook, kernel, self._log.write, Budget())
        if chosen.language.lower() == "python":
            await cells.guard()
        try:
            await self._run_cells(cells)
        except (RunFailure, asyncio.CancelledError):
            with contextlib.suppress(RunFailure):  # the first reason is the one to report
                self._save(cells)
            raise
        self._save(cells)
        self._succeed()

    async def _run_cells(self, cells: Cells) -> None:
        for number, index in enumerate(self._steps, start=1):
            cell = self._notebook.cells[index]
            place = CellPosition(number, len(self._steps), cell.source)
            self._log.line(f"{place}: {_shown(cell.source)}")
            began = time.monotonic()
            end = await cells.run(index)
            self._log.line(f"{place}: {_how(end)}, {time.monotonic() - began:.2f} s")
            self._executed.save_soon()
            write_whole(self._folder / PROGRESS_FILE, f"{99 * number // len(self._steps)}\n")
            is_clean_exit = _is_clean_exit(end)
            if not is_clean_exit:
                _check(end, place, cell)
            if is_clean_exit or end.asks_exit:
                self._log.line(f"{place} ended the run")
                return

    def _save(self, cells: Cells) -> None:
        cells.settle()
        self._executed.save(durable=True)

    def _succeed(self) -> None:
        text = last_text(self._notebook.cells)
        size = None
        if text is not None:
            data = text.encode("utf-8", "replace")
            (self._folder / TEXT_FILE).write_bytes(data)
            size = len(data)
        _write(self._folder / SUMMARY_FILE, {"size": size})


async def _started(job: RunJob, chosen: ChosenKernel) -> Kernel:
    is_isolated = bool(job.sandbox)
    environment = job.environment if is_isolated else os.environ
    kernel = Kernel(job.folder, chosen, environment, is_isolated=is_isolated)
    await kernel.start()
    return kernel


def _cancel_once(task: asyncio.Task[Any], received: list[int], number: int) -> None:
    if not received:
        task.cancel()
    received.append(number)


def _ignore_further_signals() -> None:
    """Ignore signals until the answer and the exit code are written.

    A stop signals the group first and then the marked processes, so this process receives two signals.
    """
    for number in _ENDING_SIGNALS:
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)


def _is_run(cell: NotebookNode) -> bool:
    return bool(cell.cell_type == "code" and cell.source.strip() and _SKIP not in _tags(cell))


def _tags(cell: NotebookNode) -> list[str]:
    tags: list[str] = cell.metadata.get("tags", [])
    return tags


def _check(end: CellEnd, place: CellPosition, cell: NotebookNode) -> None:
    """Raise `RunFailure` when the run stops at this cell."""
    if end.kernel_end is not None:
        raise failures.kernel_ended(place, end.kernel_end)
    if RAISES_EXCEPTION in _tags(cell):
        return
    if end.error is not None:
        raise failures.raised(place, end.error["ename"], end.error["evalue"], end.error["traceback"])
    if end.warning is not None:
        raise failures.warned(place, end.warning)


def _is_clean_exit(end: CellEnd) -> bool:
    """Return whether the cell ended itself without a failure, as by `exit()` or `sys.exit(0)`."""
    return end.error is not None and end.error["ename"] == "SystemExit" and end.error["evalue"] in _CLEAN_EXITS


def _how(end: CellEnd) -> str:
    if end.kernel_end is not None:
        return "the kernel ended"
    if end.error is not None:
        return f"raised {end.error['ename']}"
    return "done" if end.warning is None else "done with a warning"


def _shown(source: str) -> str:
    """Return the first line of a cell that is not blank."""
    line = next(line for line in source.splitlines() if line.strip()).strip()
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}…"


def _write(file: Path, value: Mapping[str, Any]) -> None:
    write_whole(file, json.dumps(value))


class RunLog:
    """Writes the log, unless that would fill the disk."""

    def __init__(self, folder: Path, min_free_bytes: int) -> None:
        self._folder = folder
        self._min_free_bytes = min_free_bytes
        self._since_look = 0
        self._ends_line = True

    def write(self, text: str) -> None:
        """Append a cell's output. Raises `RunFailure` when the disk is (nearly) full."""
        if not text:
            return
        data = text.encode("utf-8", "replace")
        self._since_look += len(data)
        if self._since_look >= _LOOK_BYTES:
            self._look()
        try:
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
        except OSError as error:
            raise RunFailure(f"the log could not be written: {error.strerror}") from None
        self._ends_line = text.endswith("\n")

    def line(self, text: str) -> None:
        """Append a line from the run itself."""
        self.write(f"{'' if self._ends_line else chr(10)}{text}\n")

    def _look(self) -> None:
        self._since_look = 0
        if shutil.disk_usage(self._folder).free < self._min_free_bytes:
            raise RunFailure("the service's disk is nearly full: the run was ended by the size of its log")
