"""Where the folders of commands are."""

from __future__ import annotations

from pathlib import Path

_COMMANDS_PER_FOLDER = 1000


def command_root(commands_dir: Path, command_id: int) -> Path:
    """Return the folder of a command; a thousand to a parent, since a folder with a million entries is slow."""
    return commands_dir / str(command_id // _COMMANDS_PER_FOLDER) / str(command_id)
