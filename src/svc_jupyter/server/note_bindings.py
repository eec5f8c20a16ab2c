"""Which notebooks of this server are copies of notes, and of which version: kept by the server, never in the file.

A notebook may come from anywhere, and say anything. So its metadata hold only a random key; what that key binds it to
is known here, for the one path where the copy was stored. Any other notebook that names a note is asked about once.
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
    """What is known of a notebook: of which note it is a copy, or that it is to be none (`is_allowed`)."""

    service: str
    note: int
    key: str
    version: int | None
    """The version of the note that the notebook says; None where the service does not count them."""
    is_allowed: bool = True

    def binds(self, service: str, note: int, key: str) -> bool:
        """Return whether it is about this note of this service, and the notebook with this key."""
        return (self.service, self.note) == (service, note) and secrets.compare_digest(self.key.encode(), key.encode())


class NoteBindings:
    """The bindings of one user's servers in a SQLite file; `root` is where this server's paths begin."""

    def __init__(self, file: Path, root: str) -> None:
        self._file = file
        self._root = root

    def find(self, path: str) -> NoteBinding | None:
        """Return what is known of the notebook at a path; None for nothing."""
        with self._connected() as database:
            row = database.execute(
                "SELECT service, note, key, version, is_allowed FROM note_copies WHERE place = ?", (self._place(path),)
            ).fetchone()
        if row is None:
            return None
        service, note, key, version, is_allowed = row
        return NoteBinding(service, note, key, version, is_allowed=bool(is_allowed))

    def keep(self, path: str, binding: NoteBinding) -> None:
        """Keep what the notebook at a path is bound to, in place of what was known of it."""
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
    """Return the key of a new copy, which nobody can guess."""
    return secrets.token_urlsafe(16)
