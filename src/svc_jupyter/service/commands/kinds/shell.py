"""`ShellCommand`: a Bash script in a working folder, with files and unpacked archives beside it.

Its stdout is the result, its stderr the log.

The script runs as the service's own user. It gets the environment that the service was started with, less everything
of the service's own (`SVC_…`: its token, its database's password), and `SVC_COMMAND_ID`.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.commands import CommandType, ShellSubmission
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.commands.kinds import shell_ending, shell_staging
from svc_jupyter.service.commands.process import DurableProcess
from svc_jupyter.service.errors import Invalid
from svc_jupyter.service.settings import Settings
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.storage import Storage

SCRIPT = "script.sh"
"""The script's file in the attempt's folder. It is run as a file: a command line shows in the process list."""
_FIELDS: Final = ("inline", "script_location", "files", "archives", "parameters")
_OWN_PREFIX = "SVC_"


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
        """Fetch what the command names, run its script to the end and say how it ended."""
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
        _check_texts(command)  # again: macros put other texts in
        script = task.folder / SCRIPT
        if command.get("files") or command.get("archives") or command.get("script_location"):
            plan = await shell_staging.plan(command, partial(self._storage.locate, task.account_id))
            await shell_staging.stage(plan, task, script, self._storage, desk)
        if command.get("inline"):
            write_script(script, command["inline"])
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
    """Return where Bash is, found once: for a bare name the wrapper and Bash would both look through PATH each time."""
    return shutil.which("bash", path=path) or "bash"


def script_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for scripts: what the service has, less its own settings and secrets."""
    return {name: value for name, value in inherited.items() if not name.startswith(_OWN_PREFIX)}


def split_parameters(text: str | None) -> list[str]:
    """Return the parameters of a script, split as a shell does. Raises `Invalid` when a quote is not closed."""
    if not text:
        return []
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Invalid(f"parameters cannot be split as a shell does: {str(error).lower()}") from error


def write_script(file: Path, text: str) -> None:
    """Write a script where only the service's user can read it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        view = memoryview(text.encode())
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _check_texts(command: Mapping[str, Any]) -> None:
    """Refuse what a script, an argument or the database cannot hold."""
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
