"""`JupyterNotebookCommand`: runs a stored notebook from its first cell to its last.

Each attempt is its own process with a fresh kernel, which outlives the service and ends on cancellation. The kernel
gets the environment of scripts and access to this service (`service_access.py`), and runs in the attempt's working
folder. With isolation, the kernel is in a sandbox, and the process that gives it the cells is outside. The executed
notebook is in the attempt's folder, however the attempt ended; that of a successful attempt also replaces the stored
notebook.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from svc_jupyter.api.commands import CommandType, JupyterNotebookSubmission
from svc_jupyter.api.package_environments import EnvironmentType
from svc_jupyter.api.paths import HTML, NOTEBOOK, NOTEBOOK_VARIABLE
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Document, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.logs import followed
from svc_jupyter.service.ground.errors import DatabaseAway, Forbidden, Invalid, NotFound, ServiceError, translated
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.isolation.isolation import Isolation, Sandbox, remove_temporary
from svc_jupyter.service.kinds.failures import reported_failure
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
from svc_jupyter.service.kinds.notebook.pages import PAGE_HEADERS, NotebookPages, executed_notebook
from svc_jupyter.service.kinds.notebook.service_access import ServiceAccess, folder_of
from svc_jupyter.service.packages.attached import AttachedEnvironments
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.processes.warm_workers import IDLE_SECONDS, WarmWorkers
from svc_jupyter.service.processes.worker_parent import MARK

_WORKER = "svc_jupyter.service.kinds.notebook.worker"


class Notebooks(Protocol):
    """The stored notebooks, by their paths in the service. Every method blocks and raises `ServiceError`."""

    def check_notebook(self, path: str, caller: Caller) -> None:
        """Raise unless the notebook exists and the caller may run it."""

    def read_notebook(self, path: str, *, account_id: int, users: Sequence[int]) -> str:
        """Return a notebook's text, with the current rights of all the users."""
        ...

    def replace_notebook(self, path: str, text: str, *, account_id: int, users: Sequence[int], command_id: int) -> None:
        """Store the text that a command has made of it, in the name of the first user."""


class JupyterNotebookKind:
    """Runs `JupyterNotebookCommand`s."""

    command_type = CommandType.JUPYTER_NOTEBOOK
    document_types = frozenset({NOTEBOOK, HTML})

    def __init__(
        self,
        notebooks: Notebooks,
        workers: RunWorkers,
        settings: Settings,
        environments: AttachedEnvironments,
        access: ServiceAccess,
    ) -> None:
        self._notebooks = notebooks
        self._workers = workers
        self._settings = settings
        self._environments = environments
        self._access = access
        self._isolation = Isolation.of(settings)
        self._inherited = self._isolation.environment(os.environ)
        self._pages = NotebookPages()

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`. Also loads the runs' parent."""
        submission = JupyterNotebookSubmission.model_validate(body)
        if "$" not in submission.path:  # a macro gives the path only at the run, which checks it then
            with translated(NotFound, to=Invalid, about="path"):
                await asyncio.to_thread(self._notebooks.check_notebook, submission.path, caller)
        self._workers.warm()
        return submission.model_dump()

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Run the notebook in its own process and return its outcome."""
        try:
            process = await desk.process(partial(self._start, task, desk))
        except (NotFound, Forbidden, Invalid) as error:
            return Outcome(False, error.message, may_retry=False)
        except DatabaseAway:
            raise
        except ServiceError as error:
            return Outcome(False, error.message)
        await asyncio.to_thread(self._access.bring_up_to_date, task)
        code = await followed(process, task.folder / PROGRESS_FILE, desk)
        await asyncio.to_thread(self._access.take_back, task)
        if self._isolation.is_on:
            await remove_temporary(task.folder)
        outcome = await asyncio.to_thread(_outcome, task, code)
        if outcome.succeeded and task.command["upload_to_source"]:
            desk.say(await asyncio.to_thread(self._put_back, task))
        return outcome

    async def document(self, root: Path, attempts: int, media_type: str) -> Document:
        """Return the executed notebook, unchanged or as an HTML page. Raises as `DocumentKind.document` says."""
        file = executed_notebook(root, attempts)
        if media_type == HTML:
            return Document(await self._pages.page(file), PAGE_HEADERS)
        return Document(file)

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        await asyncio.to_thread(self._fetch, task)
        environment = await self._environments.of_label(task.account_id, task.label, command_id=task.id)
        if environment is not None:
            desk.say(f"Python notebooks run in environment {environment.name} (packages {environment.package_id})")
        of_r = await self._environments.of_label(task.account_id, task.label, EnvironmentType.R, command_id=task.id)
        if of_r is not None:
            desk.say(f"R finds environment {of_r.name} (packages {of_r.package_id})")
        access = await asyncio.to_thread(self._access.give, task)
        variables = {**({} if of_r is None else of_r.variables), **task.environment, **access}
        variables[NOTEBOOK_VARIABLE] = Path(task.command["path"]).name
        sandbox: Sequence[str] = []
        if self._isolation.is_on:
            folders = [folder_of(task), *(each.folder for each in (environment, of_r) if each is not None)]
            made = await asyncio.to_thread(self._sandbox, task, folders)
            sandbox = made.child_argv(())
            variables = {**self._inherited, **variables, **made.variables, MARK: str(task.folder)}
        return await self._workers.start(
            RunJob(
                folder=task.folder,
                log=task.log_file,
                notebook=task.command["path"],
                arguments=task.command["arguments"],
                environment=variables,
                python=None if environment is None else str(environment.python),
                sandbox=sandbox,
                min_free_bytes=self._settings.min_free_disk_bytes,
            )
        )

    def _sandbox(self, task: Task, readable: Sequence[Path]) -> Sandbox:
        kernel = task.folder / KERNEL_FOLDER
        kernel.mkdir(mode=0o700, exist_ok=True)
        return self._isolation.sandbox(
            task.folder, task.working_folder, task.user_id, readable=readable, writable=[kernel]
        )

    def _fetch(self, task: Task) -> None:
        text = self._notebooks.read_notebook(task.command["path"], account_id=task.account_id, users=task.users)
        (task.folder / SOURCE_FILE).write_bytes(text.encode())

    def _put_back(self, task: Task) -> str:
        """Replace the notebook by its executed copy, unless it was changed meanwhile; return a line for the log.

        A second call after a restart of the service recognises the replacement made before.
        """
        path = task.command["path"]
        executed = (task.folder / EXECUTED_FILE).read_bytes().decode()
        try:
            now = self._notebooks.read_notebook(path, account_id=task.account_id, users=task.users)
            if now not in (executed, (task.folder / SOURCE_FILE).read_bytes().decode()):
                return f"{path} was changed during the run and stays as it is; the executed copy is in the results"
            if now != executed:
                self._notebooks.replace_notebook(
                    path, executed, account_id=task.account_id, users=task.users, command_id=task.id
                )
        except ServiceError as error:
            return f"{path} could not be replaced, the executed copy is in the results: {error.message}"
        return f"{path} was replaced by its executed copy"


def _outcome(task: Task, code: int | None) -> Outcome:
    try:
        size = json.loads((task.folder / SUMMARY_FILE).read_text("utf-8"))["size"]
    except FileNotFoundError:
        return reported_failure(task.folder / ERROR_FILE, code, "the process of the run")
    if size is None:
        return Outcome(True, exit_code=code)
    return Outcome(True, exit_code=code, result=StoredResult(ResultForm.LINES, f"{task.attempt}/{TEXT_FILE}", size))


class RunWorkers(WarmWorkers[RunJob]):
    """Starts a process for each run. Kernels inherit `environment`, which holds nothing of the service's own."""

    def __init__(
        self, environment: Mapping[str, str], *, idle_seconds: float = IDLE_SECONDS, python: str = sys.executable
    ) -> None:
        super().__init__(_WORKER, environment, idle_seconds=idle_seconds, python=python)
