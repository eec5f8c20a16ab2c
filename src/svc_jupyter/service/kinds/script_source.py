"""The source of a command's script: the command itself, or a file in the account's storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.macros.macros import substitute
from svc_jupyter.service.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, and its name in messages: the field, or the file."""

    text: str
    source: str


class ScriptSource:
    """Checks and reads the scripts of one kind; `field` is the one for inline scripts."""

    def __init__(self, storage: Storage, settings: Settings, field: str = "query") -> None:
        self._storage = storage
        self._most_bytes = settings.max_body_bytes
        self._field = field

    async def described(self, text: str | None, location: str | None, caller: Caller) -> dict[str, Any]:
        """Return the two fields of the record's `command`. Raises `Invalid` when neither holds a valid script."""
        if "\0" in (text or "") or "\0" in (location or ""):
            raise Invalid(f"{self._field} and script_location must not contain a NUL character")
        if location and "$" not in location:  # a macro gives the location only at the run
            await self._storage.locate(caller.account_id, location)
        return {self._field: text or None, "script_location": location or None}

    async def read(self, task: Task) -> Script:
        """Return the script of an attempt, with its macros replaced. Raises `StorageFailure`, `Invalid`.

        Raises `MacroError` when there are too many macros.
        """
        text = task.command.get(self._field)
        if text:
            return Script(text, self._field)
        location = task.command["script_location"]
        text = await self._storage.read_text(task.account_id, location, self._most_bytes)
        return Script(substitute(text, task.macros), location)
