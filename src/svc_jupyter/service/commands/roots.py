"""Where the folders of commands are.

A folder's name holds the command's id and a key that was drawn when its row was written. Ids are given again after a
database was restored from a backup, or another one was put in its place; the key is not. So a command never finds what
another one left, and nobody reads another one's log or result.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_COMMANDS_PER_FOLDER = 1000
_KEY_BYTES = 6


class RootName(NamedTuple):
    """What the name of a command's folder says. Commands of before there were keys have none."""

    command_id: int
    key: str | None


def new_folder_key() -> str:
    """Return the key of the folder of a command that is about to be written."""
    return secrets.token_hex(_KEY_BYTES)


def command_root(commands_dir: Path, row: Mapping[Any, Any]) -> Path:
    """Return the folder of a row's command; a thousand to a parent, since a folder with a million entries is slow."""
    command_id: int = row["id"]
    key: str | None = row["folder_key"]
    name = str(command_id) if key is None else f"{command_id}-{key}"
    return commands_dir / str(command_id // _COMMANDS_PER_FOLDER) / name


def parse_root_name(name: str) -> RootName | None:
    """Return which command a folder belongs to, by its name; None for a name that no command's folder has."""
    number, dash, key = name.partition("-")
    if not (number.isascii() and number.isdigit()) or (dash and not key):
        return None
    return RootName(int(number), key or None)
