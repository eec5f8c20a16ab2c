"""`ShellCommand`: a Bash script in a working folder, with files and unpacked archives beside it.

Its stdout is the result, its stderr the log.

The script runs as the service's own user: in a sandbox (`isolation/`), or else with all that this user may do. Without
a sandbox, its environment is the one that the service was started with, without the service's own variables (`SVC_…`:
its token, its database's password), plus `SVC_COMMAND_ID`.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from svc_jupyter.api.commands import CommandType, ShellSubmission
from svc_jupyter.files import write_whole
from svc_jupyter.forms.filling import filled_script
from svc_jupyter.forms.values import FormProblem
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Desk, Outcome, ResultForm, StoredResult, Task
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.ground.settings import Settings, script_environment
from svc_jupyter.service.isolation.isolation import Isolation, remove_temporary
from svc_jupyter.service.kinds.shell.ending import explain, mark_log_start
from svc_jupyter.service.macros.macros import SUBSTITUTED_LIMIT, substitute
from svc_jupyter.service.processes.durable_process import DurableProcess
from svc_jupyter.service.storage.archives import check_archive_name
from svc_jupyter.service.storage.failures import StorageFailure
from svc_jupyter.service.storage.locations import Location, split_locations
from svc_jupyter.service.storage.storage import Storage
from svc_jupyter.service.workspace.form_arguments import CELL, CellForms
from svc_jupyter.sizes import readable_size

SCRIPT = "script.sh"
"""The script's file in the attempt's folder. It runs as a file because a command line shows in the process list."""
_STAGED: Final = ("script_location", "files", "archives")
_FIELDS: Final = ("inline", *_STAGED, "parameters")
_MAX_LOCATIONS = 1000
_MACRO = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*\$")
_Locate = Callable[[str], Awaitable[Location]]


class ShellKind:
    """Runs `ShellCommand`s."""

    command_type = CommandType.SHELL

    def __init__(
        self, storage: Storage, forms: CellForms, settings: Settings, inherited: Mapping[str, str] = os.environ
    ) -> None:
        self._storage = storage
        self._forms = forms
        self._settings = settings
        self._isolation = Isolation.of(settings)
        is_on = self._isolation.is_on
        self._environment = self._isolation.environment(inherited) if is_on else script_environment(inherited)

    async def describe(self, body: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Validate a submission and return the record's `command`: every field of it, null when not given."""
        submission = ShellSubmission.model_validate(body)
        command = {key: getattr(submission, key) or None for key in _FIELDS}
        _check_texts(command)
        split_parameters(command["parameters"])
        if any(command[key] for key in _STAGED):
            await _planned(_without_macros(command), partial(self._storage.locate, caller.account_id))
        if submission.cell is None:
            return command
        return command | self._forms.described(submission.inline or "", submission.cell)

    async def run(self, task: Task, desk: Desk) -> Outcome:
        """Fetch the command's files, run its script and return the outcome."""
        try:
            process = await desk.process(partial(self._start, task, desk))
        except StorageFailure as error:
            return Outcome(False, error.message, may_retry=error.may_retry)
        except Invalid as error:
            return Outcome(False, error.message, may_retry=False)
        code = await process.wait()
        if self._isolation.is_on:
            await remove_temporary(task.folder)
        if code == 0:
            size = (task.folder / "out").stat().st_size
            return Outcome(
                True, exit_code=0, result=StoredResult(ResultForm.LINES, file=f"{task.attempt}/out", size=size)
            )
        return Outcome(False, explain(code, task, task.folder / SCRIPT), exit_code=code)

    async def _start(self, task: Task, desk: Desk) -> DurableProcess:
        command = task.command
        _check_texts(command)  # again: the macros' values may be invalid, too
        script = task.folder / SCRIPT
        if any(command.get(key) for key in _STAGED):
            plan = await _planned(command, partial(self._storage.locate, task.account_id))
            await _stage(plan, task, script, self._storage, desk)
        inline, variables = self._script(command)
        if inline:
            write_whole(script, inline, mode=0o600)
        mark_log_start(task)
        program = [_bash(self._environment.get("PATH")), str(script), *split_parameters(command.get("parameters"))]
        environment = {**self._environment, **task.environment, **variables}
        if self._isolation.is_on:
            sandbox = self._isolation.sandbox(task.folder, task.working_folder, task.user_id, readable=[script])
            program, environment = sandbox.argv(program), {**environment, **sandbox.variables}
        return DurableProcess.start(
            folder=task.folder,
            argv=program,
            cwd=task.working_folder,
            environment=environment,
            log=task.log_file,
            ignores_signals=self._isolation.is_on,
        )

    def _script(self, command: Mapping[str, Any]) -> tuple[str | None, dict[str, str]]:
        """Return the script of a submission, and the variables with the values of its forms."""
        if CELL not in command:
            return command.get("inline"), {}
        with translated(FormProblem, to=Invalid, about="forms"):
            return filled_script(command["inline"], self._forms.values(command))


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


@dataclass(frozen=True, slots=True)
class _Plan:
    """The locations that a command names, each validated."""

    script: Location | None
    files: tuple[Location, ...]
    archives: tuple[Location, ...]


def _without_macros(command: Mapping[str, Any]) -> dict[str, Any]:
    """Return the locations of a submission that can be checked at once: those without a `$macro$`."""
    script = command.get("script_location")
    return {
        "script_location": None if script is None or _MACRO.search(script) else script,
        **{
            key: ",".join(text for text in split_locations(command.get(key)) if not _MACRO.search(text))
            for key in ("files", "archives")
        },
    }


async def _planned(command: Mapping[str, Any], locate: _Locate) -> _Plan:
    """Return what to fetch for a command.

    Raises `Invalid` for a malformed location, one outside the folders that the service may read, a name that is not an
    archive's, and two files with one name in the working folder.
    """
    script = command.get("script_location")
    plan = _Plan(
        script=None if script is None else await _located("script_location", script, locate),
        files=await _all_located("files", command.get("files"), locate),
        archives=await _all_located("archives", command.get("archives"), locate),
    )
    if plan.script is not None:
        _ = plan.script.name  # refuses a folder
    names: dict[str, Location] = {}
    for location in (*plan.files, *plan.archives):
        other = names.setdefault(location.name, location)
        if other is not location:
            raise Invalid(f"{other} and {location} would both be {location.name!r} in the working folder")
    for location in plan.archives:
        check_archive_name(location.name)
    return plan


async def _stage(plan: _Plan, task: Task, script: Path, storage: Storage, desk: Desk) -> None:
    """Fetch the planned files, into `script` and the task's working folder; archives are unpacked there.

    First removes what an interrupted start left. Raises `StorageFailure`.
    """
    downloads = task.folder / "archives"
    await asyncio.to_thread(_start_afresh, task.working_folder, downloads, script)
    if plan.script is not None:
        await _fetch(plan.script, script, task, storage, desk)
        if task.macros:
            await asyncio.to_thread(_put_macros_in, script, plan.script, task.macros)
    for location in plan.files:
        await _fetch(location, task.working_folder / location.name, task, storage, desk)
    for location in plan.archives:
        archive = downloads / location.name
        await _fetch(location, archive, task, storage, desk)
        room = await storage.unpack(archive, task.working_folder / location.name)
        desk.say(f"unpacked {location.name}: {room.used_entries} entries, {readable_size(room.used_bytes)}")
        await asyncio.to_thread(archive.unlink)


def _start_afresh(working_folder: Path, downloads: Path, script: Path) -> None:
    for folder in (working_folder, downloads):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    script.unlink(missing_ok=True)


def _put_macros_in(script: Path, location: Location, macros: Sequence[Mapping[str, Any]]) -> None:
    """Replace macros in a script, whatever its other bytes are."""
    size = script.stat().st_size
    if size > SUBSTITUTED_LIMIT:
        raise Invalid(
            f"script_location: {location} has {readable_size(size)}, and macros are put into scripts of at most "
            f"{readable_size(SUBSTITUTED_LIMIT)}; take the macros away from the command, or shorten the script"
        )
    text = script.read_bytes().decode("utf-8", "surrogateescape")
    script.write_bytes(substitute(text, macros).encode("utf-8", "surrogateescape"))


async def _fetch(location: Location, target: Path, task: Task, storage: Storage, desk: Desk) -> None:
    desk.say(f"fetching {location}")
    began = time.monotonic()
    size = await storage.fetch(task.account_id, location, target)
    desk.say(f"fetched {location}: {readable_size(size)} in {time.monotonic() - began:.1f} s")


async def _all_located(key: str, text: str | None, locate: _Locate) -> tuple[Location, ...]:
    texts = split_locations(text)
    if len(texts) > _MAX_LOCATIONS:
        raise Invalid(f"{key} names {len(texts)} locations; at most {_MAX_LOCATIONS} are fetched for a command")
    return tuple([await _located(key, text, locate) for text in texts])


async def _located(key: str, text: str, locate: _Locate) -> Location:
    with translated(Invalid, to=Invalid, about=key):
        return await locate(text)
