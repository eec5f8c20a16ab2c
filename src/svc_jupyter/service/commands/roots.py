"""Where the folders of commands are.

A folder's name holds the command's id and a random key from its row. After a database is restored from a backup or
replaced, ids repeat, but keys do not. So a command never finds another one's files, and no user reads the log or result
of another command.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_COMMANDS_PER_FOLDER = 1000
_KEY_BYTES = 6


class RootName(NamedTuple):
    """The parts of the name of a command's folder."""

    command_id: int
    key: str


def new_folder_key() -> str:
    """Return a new random key for the folder of a command."""
    return secrets.token_hex(_KEY_BYTES)


def command_root(commands_dir: Path, row: Mapping[Any, Any]) -> Path:
    """Return the folder of a row's command; a parent holds a thousand, since large folders are slow."""
    command_id: int = row["id"]
    return commands_dir / str(command_id // _COMMANDS_PER_FOLDER) / f"{command_id}-{row['folder_key']}"


def parse_root_name(name: str) -> RootName | None:
    """Return the parts of a folder's name; None for a name that no command's folder has."""
    number, _, key = name.partition("-")
    return RootName(int(number), key) if number.isascii() and number.isdigit() and key else None
