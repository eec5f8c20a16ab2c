"""`ShellCommand`: a Bash script in a working folder, with files and unpacked archives beside it.

Its stdout is the result, its stderr the log.

The script runs as the service's own user. Its environment is the one that the service was started with, without the
service's own variables (`SVC_…`: its token, its database's password), plus `SVC_COMMAND_ID`.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final

from svc_jupyter.api.commands import CommandType, ShellSubmission
from svc_jupyter.files import write_whole
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.kinds.shell import ending as shell_ending
from svc_jupyter.service.kinds.shell import staging as shell_staging
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

SCRIPT = "script.sh"
"""The script's file in the attempt's folder. It runs as a file because a command line shows in the process list."""
_FIELDS: Final = ("inline", "script_location", "files", "archives", "parameters")


class ShellKind:
    """Runs `ShellCommand`s."""

    command_type = CommandType.SHELL

    def __init__(self, storage: Storage, settings: Settings, inherited: Mapping[str, str] = os.environ) -> None:
        self._storage = storage
        self._settings = settings
        self._environment = script_environment(inherited)

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`: every field of it, null when not given."""
        submission = ShellSubmission.model_validate(body)
        command = {key: getattr(submission, key) or None for key in _FIELDS}
        _check_texts(command)
        split_parameters(command["parameters"])
        checkable = shell_staging.without_macros(command)
        await shell_staging.plan(checkable, partial(self._storage.locate, caller.account_id))
        return command

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Fetch the command's files, run its script and return the outcome."""
        try:
            process = await desk.process(partial(self._start, task, desk))
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except Invalid as error:
            return Outcome(False, error.message, may_retry=False)
        code = await process.wait()
        if code == 0:
            size = (task.folder / "out").stat().st_size
            return Outcome(
                True, exit_code=0, result=StoredResult(ResultForm.LINES, file=f"{task.attempt}/out", size=size)
            )
        return Outcome(False, shell_ending.explain(code, task, task.folder / SCRIPT), exit_code=code)

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        command = task.command
        _check_texts(command)  # again: the macros' values may be invalid, too
        script = task.folder / SCRIPT
        if command.get("files") or command.get("archives") or command.get("script_location"):
            plan = await shell_staging.plan(command, partial(self._storage.locate, task.account_id))
            await shell_staging.stage(plan, task, script, self._storage, desk)
        if command.get("inline"):
            write_whole(script, command["inline"], mode=0o600)
        shell_ending.mark_log_start(task)
        return DurableProcess.start(
            folder=task.folder,
            argv=[_bash(self._environment.get("PATH")), str(script), *split_parameters(command.get("parameters"))],
            cwd=task.working_folder,
            environment={**self._environment, **task.environment},
            log=task.log_file,
        )


@cache
def _bash(path: str | None) -> str:
    """Return the path of Bash, found once: for a bare name the wrapper and Bash would both search PATH each time."""
    return shutil.which("bash", path=path) or "bash"


def split_parameters(text: str | None) -> list[str]:
    """Return the parameters of a script, split as a shell does. Raises `Invalid` when a quote is not closed."""
    if not text:
        return []
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Invalid(f"parameters cannot be split as a shell does: {str(error).lower()}") from error


def _check_texts(command: Mapping[str, Any]) -> None:
    """Refuse texts that a script, an argument or the database cannot hold."""
    for key in _FIELDS:
        text = command.get(key)
        if text is None:
            continue
        if "\0" in text:
            raise Invalid(f"{key} holds a NUL character")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Invalid(f"{key} holds a character that is not Unicode (a lone surrogate)") from error
