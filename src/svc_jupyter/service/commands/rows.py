"""A row of the commands table, and where the folders of commands are.

A folder's name holds the command's id and a random key from its row. After a database is restored from a backup or
replaced, ids repeat, but keys do not. So a command never finds another one's files, and no user reads the log or result
of another command.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.schema.commands import NEW_ROW

_COMMANDS_PER_FOLDER = 1000
_KEY_BYTES = 6
_VALUES = attrgetter(*NEW_ROW)


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A row; its fields are the table's columns in the table's order."""

    id: int
    account_id: int
    user_id: int
    command_type: str
    command_source: str
    status: str
    command: Mapping[str, Any]
    created_at: float
    start_time: float | None
    end_time: float | None
    name: str | None
    tags: str | None
    label: str | None
    pool: str | None
    timeout: int | None
    retry: int
    retry_delay: int | None
    can_notify: bool
    resolved_macros: list[dict[str, Any]] | None
    progress: int
    result_rows: int | None
    pid: int | None
    message: str | None
    attempts: list[dict[str, Any]] | None
    next_attempt_at: float | None
    replica_id: str | None
    stop_reason: str | None
    result: Mapping[str, Any] | None
    outputs: Mapping[str, Any] | None
    nominal_time: str | None
    sequence_id: int | None
    parent_id: int | None
    child_number: int | None
    cluster_id: int | None
    folder_key: str
    edited_by: int | None
    notebook: str | None

    @classmethod
    def from_row(cls, row: Iterable[Any]) -> Self:
        """Return the row from one that has all columns of the table, in its order, and no others."""
        return cls(*row)

    @classmethod
    def new(cls, values: Mapping[str, Any]) -> Self:
        """Return a new row with these values; other columns have their defaults."""
        return cls(*{**NEW_ROW, **values}.values())

    def updated(self, values: Mapping[str, Any]) -> Self:
        """Return the row with other values; `dataclasses.replace` takes twice as long."""
        return type(self)(*{**dict(zip(NEW_ROW, _VALUES(self), strict=True)), **values}.values())

    @property
    def is_final(self) -> bool:
        """Whether the command has ended."""
        return CommandStatus(self.status).is_final


def read_rows(result: sa.CursorResult[Any]) -> list[CommandRow]:
    """Return the rows of a statement that returns all columns of the table."""
    return [CommandRow.from_row(row) for row in result]


def read_row(result: sa.CursorResult[Any]) -> CommandRow | None:
    """Return the only row of such a statement, None where there is none."""
    row = result.one_or_none()
    return None if row is None else CommandRow.from_row(row)


class RootName(NamedTuple):
    """The parts of the name of a command's folder."""

    command_id: int
    key: str


def new_folder_key() -> str:
    """Return a new random key for the folder of a command."""
    return secrets.token_hex(_KEY_BYTES)


def command_root(commands_dir: Path, command_id: int, folder_key: str) -> Path:
    """Return the folder of a command; a parent holds a thousand, since large folders are slow."""
    return commands_dir / str(command_id // _COMMANDS_PER_FOLDER) / f"{command_id}-{folder_key}"


def parse_root_name(name: str) -> RootName | None:
    """Return the parts of a folder's name; None for a name that no command's folder has."""
    number, _, key = name.partition("-")
    return RootName(int(number), key) if number.isascii() and number.isdigit() and key else None
