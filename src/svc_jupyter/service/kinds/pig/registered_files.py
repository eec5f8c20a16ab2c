"""Jars and Python functions that a script registers from an object store: fetched before the script runs.

Files in a folder of this machine are read in place; Pig has no credentials of the account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from svc_jupyter.service.commands.kind import Desk, Task
from svc_jupyter.service.storage.locations import Location, Scheme
from svc_jupyter.service.storage.storage import Storage

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OF_PIG = ("hdfs://", "ivy://", "classpath:")
"""Locations that Pig itself reads, or refuses."""


class RegisteredFiles:
    """Fetches registered files with the account's credentials."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def fetch(self, task: Task, locations: Iterable[str], desk: Desk) -> dict[str, str]:
        """Return the local path of each remote location, fetched into the attempt's folder.

        Raises `Invalid` for a malformed location, and `StorageFailure`.
        """
        fetched: dict[str, str] = {}
        for text in dict.fromkeys(locations):
            location = await self._remote(task.account_id, text)
            if location is not None:
                target = self._target(task, len(fetched), location)
                desk.say(f"fetching {location}")
                await self._storage.fetch(task.account_id, location, target)
                fetched[text] = str(target)
        return fetched

    async def _remote(self, account_id: int, text: str) -> Location | None:
        """Return the location of a file to fetch; None for one of this machine, or one that Pig reads."""
        if text.startswith(("/", *_OF_PIG)) or "$" in text or not text:
            return None
        if _SCHEME.match(text) is None and "*" in text:
            return None
        location = await self._storage.locate(account_id, text)
        return None if location.scheme is Scheme.FILE else location

    @staticmethod
    def _target(task: Task, number: int, location: Location) -> Path:
        """Return the target path, each in its own folder: a Python function's module has the name of its file."""
        folder = task.folder / "registered" / str(number)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / location.name
