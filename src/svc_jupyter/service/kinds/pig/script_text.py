"""What can be read from a script before Pig parses it: how many statements run something, and what it registers.

Only Pig understands a script; this looks only at the beginnings of statements, outside comments and string literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from svc_jupyter.service.commands.kind import Desk, Task
from svc_jupyter.service.storage.locations import Location, Scheme
from svc_jupyter.service.storage.storage import Storage

_SKIPPED: Final = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'", re.DOTALL)
_RUNNING: Final = re.compile(r"(?:^|[;{])\s*(?:dump|store)\b", re.IGNORECASE)
_REGISTERED: Final = re.compile(
    r"^\s*register\s+(?:'(?P<quoted>(?:\\.|[^'\\])*)'|(?P<bare>[^\s;']+))", re.IGNORECASE | re.MULTILINE
)
_COMMENT: Final = re.compile(r"(?P<text>'(?:\\.|[^'\\])*')|--[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER: Final = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<bare>[A-Za-z_]\w*))")


def runs(script: str) -> int:
    """Return the number of DUMP and STORE statements, at least 1."""
    return max(1, len(_RUNNING.findall(_SKIPPED.sub(" '' ", script))))


def registered(script: str, parameters: Mapping[str, str]) -> Iterator[str]:
    """Yield the locations that REGISTER names, with parameters replaced."""
    for match in _REGISTERED.finditer(_COMMENT.sub(_without_comment, script)):
        yield with_parameters(match["quoted"] if match["quoted"] is not None else match["bare"], parameters)


def with_parameters(text: str, parameters: Mapping[str, str]) -> str:
    """Return a text with the given parameters replaced; others stay, and Pig reports them."""
    return _PARAMETER.sub(lambda match: parameters.get(match["braced"] or match["bare"], match[0]), text)


def _without_comment(match: re.Match[str]) -> str:
    return match["text"] or " "


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
