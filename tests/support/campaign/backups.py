"""Backup and restore as docs/operations.md describes them, and what a database of either kind knows."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final, Protocol

import psycopg
from tests.support.outage_cluster import OutageCluster

_FILES = ("commands", "storage", "jupyter", "environments", "pipelines", "identity.json")
_COMMANDS: Final = "SELECT id, name, status FROM commands"
_LOGS = ("service.db-wal", "service.db-shm")


class Backup(Protocol):
    """What can be put back."""

    def restore(self) -> None:
        """Put it back, after all services were stopped."""

    def statuses(self) -> Mapping[int, tuple[str | None, str]]:
        """Return name and status of every command that the restored database knows, by id."""


class PostgresBackup:
    """A dump of the database."""

    def __init__(self, cluster: OutageCluster, file: Path) -> None:
        """Make it, while services run."""
        self._cluster, self._file = cluster, file
        cluster.dump(file)

    def restore(self) -> None:
        self._cluster.restore(self._file)

    def statuses(self) -> Mapping[int, tuple[str | None, str]]:
        with psycopg.connect(self._cluster.url) as connection:
            return _by_id(connection.execute(_COMMANDS).fetchall())


class SqliteBackup:
    """A copy of a service's database and its key, and of its files where it is whole."""

    def __init__(self, data_dir: Path, folder: Path, *, is_whole: bool) -> None:
        """Make it, while the service runs."""
        folder.mkdir()
        self._data_dir, self._folder = data_dir, folder
        self._copied = [name for name in _FILES if is_whole and (data_dir / name).exists()]
        with closing(sqlite3.connect(data_dir / "service.db")) as source, closing(sqlite3.connect(self.file)) as target:
            source.backup(target)
        for name in ("secret.key", *self._copied):
            _copy(data_dir / name, folder / name)

    @property
    def file(self) -> Path:
        return self._folder / "service.db"

    def restore(self) -> None:
        """Put back what was copied, after the service was stopped."""
        for name in (*_LOGS, *self._copied):
            subprocess.run(["rm", "-rf", str(self._data_dir / name)], check=True)
        for name in ("service.db", "secret.key", *self._copied):
            _copy(self._folder / name, self._data_dir / name)

    def statuses(self) -> Mapping[int, tuple[str | None, str]]:
        with closing(sqlite3.connect(self.file)) as connection:
            return _by_id(connection.execute(_COMMANDS).fetchall())


def _by_id(rows: Iterable[tuple[int, str | None, str]]) -> Mapping[int, tuple[str | None, str]]:
    return {command_id: (name, status) for command_id, name, status in rows}


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
