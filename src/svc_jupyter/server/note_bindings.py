"""Which notebooks of this server are copies of notes, and of which version: stored by the server, not in the file.

A notebook may come from anywhere and claim anything. So its metadata contain only a random key; this server stores what
the key is bound to, for the path where the copy was stored. For any other notebook that names a note, the user is asked
once.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS note_copies (
    place TEXT PRIMARY KEY, service TEXT NOT NULL, note INTEGER NOT NULL, key TEXT NOT NULL, version INTEGER,
    is_allowed INTEGER NOT NULL
)
"""
_BUSY_SECONDS = 10.0


@dataclass(frozen=True)
class NoteBinding:
    """The binding of a notebook: the note it is a copy of, or the decision that it is none (`is_allowed`)."""

    service: str
    note: int
    key: str
    version: int | None
    """The version of the note in the notebook; None when the service has no versions."""
    is_allowed: bool = True

    def binds(self, service: str, note: int, key: str) -> bool:
        """Return whether it binds the notebook with this key to this note of this service."""
        return (self.service, self.note) == (service, note) and secrets.compare_digest(self.key.encode(), key.encode())


class NoteBindings:
    """The bindings of one user's servers in a SQLite file; `root` is the root folder of this server's paths."""

    def __init__(self, file: Path, root: str) -> None:
        self._file = file
        self._root = root

    def find(self, path: str) -> NoteBinding | None:
        """Return the binding of the notebook at a path, or None."""
        with self._connected() as database:
            row = database.execute(
                "SELECT service, note, key, version, is_allowed FROM note_copies WHERE place = ?", (self._place(path),)
            ).fetchone()
        if row is None:
            return None
        service, note, key, version, is_allowed = row
        return NoteBinding(service, note, key, version, is_allowed=bool(is_allowed))

    def keep(self, path: str, binding: NoteBinding) -> None:
        """Store the binding of the notebook at a path, replacing an earlier one."""
        values = (binding.service, binding.note, binding.key, binding.version, binding.is_allowed)
        with self._connected() as database, database:
            database.execute("REPLACE INTO note_copies VALUES (?, ?, ?, ?, ?, ?)", (self._place(path), *values))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(self._file, timeout=_BUSY_SECONDS)) as database:
            database.execute(_SCHEMA)
            yield database

    def _place(self, path: str) -> str:
        return f"{self._root}/{path.strip('/')}"


def new_key() -> str:
    """Return an unguessable key for a new copy."""
    return secrets.token_urlsafe(16)
