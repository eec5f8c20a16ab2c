"""The working files of a shell command: its script, its files, and its archives, each unpacked."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svc_jupyter.service.commands.kind import Desk, Task
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.macros.macros import SUBSTITUTED_LIMIT, substitute
from svc_jupyter.service.storage.archives import check_archive_name
from svc_jupyter.service.storage.locations import Location, split_locations
from svc_jupyter.service.storage.room import readable_size
from svc_jupyter.service.storage.storage import Storage

_MAX_LOCATIONS = 1000
_MACRO = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*\$")
Locate = Callable[[str], Awaitable[Location]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The locations that a command names, each validated."""

    script: Location | None
    files: tuple[Location, ...]
    archives: tuple[Location, ...]


def without_macros(command: Mapping[str, Any]) -> dict[str, Any]:
    """Return the locations of a submission that can be checked at once: those without a `$macro$`."""
    script = command.get("script_location")
    return {
        "script_location": None if script is None or _MACRO.search(script) else script,
        **{
            key: ",".join(text for text in split_locations(command.get(key)) if not _MACRO.search(text))
            for key in ("files", "archives")
        },
    }


async def plan(command: Mapping[str, Any], locate: Locate) -> Plan:
    """Return what to fetch for a command.

    Raises `Invalid` for a malformed location, one outside the folders that the service may read, a name that is not an
    archive's, and two files with one name in the working folder.
    """
    script = command.get("script_location")
    planned = Plan(
        script=None if script is None else await _located("script_location", script, locate),
        files=await _all_located("files", command.get("files"), locate),
        archives=await _all_located("archives", command.get("archives"), locate),
    )
    if planned.script is not None:
        _ = planned.script.name  # refuses a folder
    names: dict[str, Location] = {}
    for location in (*planned.files, *planned.archives):
        other = names.setdefault(location.name, location)
        if other is not location:
            raise Invalid(f"{other} and {location} would both be {location.name!r} in the working folder")
    for location in planned.archives:
        check_archive_name(location.name)
    return planned


async def stage(planned: Plan, task: Task, script: Path, storage: Storage, desk: Desk) -> None:
    """Fetch the planned files, into `script` and the task's working folder; archives are unpacked there.

    First removes what an interrupted start left. Raises `StorageFailure`.
    """
    downloads = task.folder / "archives"
    await asyncio.to_thread(_start_afresh, task.working_folder, downloads, script)
    if planned.script is not None:
        await _fetch(planned.script, script, task, storage, desk)
        if task.macros:
            await asyncio.to_thread(_put_macros_in, script, planned.script, task.macros)
    for location in planned.files:
        await _fetch(location, task.working_folder / location.name, task, storage, desk)
    for location in planned.archives:
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


async def _all_located(key: str, text: str | None, locate: Locate) -> tuple[Location, ...]:
    texts = split_locations(text)
    if len(texts) > _MAX_LOCATIONS:
        raise Invalid(f"{key} names {len(texts)} locations; at most {_MAX_LOCATIONS} are fetched for a command")
    return tuple([await _located(key, text, locate) for text in texts])


async def _located(key: str, text: str, locate: Locate) -> Location:
    with translated(Invalid, to=Invalid, about=key):
        return await locate(text)
