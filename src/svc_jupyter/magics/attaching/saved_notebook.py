"""The commands that a saved notebook names: what the lines of its cells say, read from its file.

Anybody may have written the file, so nothing in it is taken for granted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from svc_jupyter.magics.arguments.options import check_output_name
from svc_jupyter.magics.display.errors import SvcUsageError
from svc_jupyter.magics.display.status import STATUS

_FAILED = ("error", "cancelled")
_ENDED = ("done", *_FAILED)


def _of_variable(name: str | None) -> str | None:
    try:
        check_output_name(name, "saved")
    except SvcUsageError as error:
        raise ValueError(str(error)) from None
    return name


Name = Annotated[str, AfterValidator(_of_variable)]


class SavedOptions(BaseModel):
    """The options of a cell that say how it reads its result."""

    format: str | None = None
    types: str | None = None
    dump: str | None = None
    result: int | None = None
    outs: list[str] = []


class SavedCommand(BaseModel):
    """A command in the output of a cell."""

    version: Literal[1]
    command: Annotated[int, Field(gt=0)]
    created_at: str
    status: str
    name: Name | None = None
    options: SavedOptions = SavedOptions()

    @property
    def has_ended(self) -> bool:
        """Whether the kernel saw its end."""
        return self.status in _ENDED

    @property
    def names(self) -> list[str]:
        """The variables that the cell assigned, or was to assign."""
        return [name for name in [self.name, *(out.rpartition("=")[2] for out in self.options.outs)] if name]


def commands_in(path: Path) -> list[SavedCommand]:
    """Return the commands that the outputs of a notebook name. Raises SvcUsageError when it cannot be read."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SvcUsageError(
            f"svc_attach: {path} cannot be read: {error.strerror}. --notebook FILE names another"
        ) from None
    except ValueError:
        raise SvcUsageError(f"svc_attach: {path} is no notebook") from None
    return [found for data in _statuses(notebook) if (found := _saved(data)) is not None]


def to_attach(saved: list[SavedCommand]) -> list[SavedCommand]:
    """Return the commands whose results a new kernel has to be given, the earliest first.

    These are, for each variable, the latest command that it was assigned from, and those whose end nobody saw.
    """
    latest: dict[str, SavedCommand] = {}
    ordered = sorted(
        {one.command: one for one in saved if one.status not in _FAILED}.values(), key=lambda one: one.command
    )
    for one in ordered:
        latest.update(dict.fromkeys(one.names, one))
    wanted = {one.command for one in latest.values()}
    return [one for one in ordered if one.command in wanted or not (one.has_ended or one.names)]


def _statuses(notebook: Any) -> Iterator[Any]:
    for cell in _list(notebook, "cells"):
        for output in _list(cell, "outputs"):
            data = output.get("data") if isinstance(output, dict) else None
            if isinstance(data, dict) and STATUS in data:
                yield data[STATUS]


def _list(thing: Any, name: str) -> list[Any]:
    found = thing.get(name) if isinstance(thing, dict) else None
    return found if isinstance(found, list) else []


def _saved(data: Any) -> SavedCommand | None:
    try:
        return SavedCommand.model_validate(data)
    except ValidationError:
        return None
