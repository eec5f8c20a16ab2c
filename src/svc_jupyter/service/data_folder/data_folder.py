"""The data folder: its locks, and `service.json`, by which clients on this machine find the service."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import structlog

from svc_jupyter.files import replacing
from svc_jupyter.service.data_folder.identity import check_kind
from svc_jupyter.service.ground.settings import Settings

_FILE = "service.json"
_LOCK = "service.lock"
_TURN = "announce.lock"
_OTHERS = 0o077
_OF_THE_USER_ALONE = (
    "service.db", "service.db-wal", "service.db-shm", "service.json", "service.log", "secret.key", "identity.json",
)  # fmt: skip
_LOOK_SECONDS = 0.02
_PATIENCE_SECONDS = 0.3
"""How long to wait for the lock, which checks for a running service hold briefly."""
log = structlog.get_logger(__name__)


class DataFolderTakenError(Exception):
    """Another service uses this data folder, and one of them has its own SQLite database."""


class DataFolder:
    """The service's folder on disk. A service on SQLite uses it alone; replicas on PostgreSQL share it.

    The service that wrote `service.json` locks it: a file that was left behind is not locked, so no client sends its
    token to another program at the same port.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.path = settings.data_dir
        self._exclusive = settings.on_sqlite
        self._folders = (settings.storage_dir, settings.commands_dir)
        self._lock: IO[str] | None = None
        self._announced: int | None = None

    def open(self) -> None:
        """Make the folders (mode 0700) and take the lock; raises `DataFolderTakenError`, `OSError`.

        Raises `ForeignDatabaseError` for the folder of a database of the other kind.
        """
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_kind(self._settings)
        self._lock = (self.path / _LOCK).open("a")
        if not _took(self._lock, fcntl.LOCK_EX if self._exclusive else fcntl.LOCK_SH):
            self._lock.close()
            raise DataFolderTakenError(self._taken_text())
        self._make_private()
        for folder in self._folders:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def turn_to_announce(self) -> Iterator[bool]:
        """Yield whether no other service is announced; replicas that start together enter one after the other."""
        with (self.path / _TURN).open("a") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            yield not self._is_announced()

    @property
    def is_announcer(self) -> bool:
        """Whether `service.json` is this service's."""
        return self._announced is not None

    def read_token(self) -> str | None:
        """Return the token of the last service here, so that clients can keep theirs after a restart."""
        token = self._read().get("token")
        return token if isinstance(token, str) else None

    def announce(self, base_url: str, token: str, version: str) -> None:
        """Write `service.json` (mode 0600), locked until this service ends."""
        content = {"base_url": base_url, "token": token, "pid": os.getpid(), "version": version, "is_locked": True}
        with replacing(self.path / _FILE) as draft:
            file = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            os.write(file, json.dumps(content).encode())
        self._announced = file

    def close(self) -> None:
        """Release the locks. `service.json` stays for its token: without the lock it does not announce a service."""
        if self._announced is not None:
            os.close(self._announced)
            self._announced = None
        if self._lock is not None:
            self._lock.close()

    def _make_private(self) -> None:
        """Remove the permissions of other users from the folder and its files; raises `OSError` where that fails."""
        mode = self.path.stat().st_mode
        if mode & _OTHERS:
            self._take_from_others(self.path)
            log.warning("data_folder_was_open", path=str(self.path), mode=f"{mode & 0o777:o}", now="700")
        if self._exclusive:  # SQLite creates its other files with the mode of this one
            os.close(os.open(self.path / "service.db", os.O_CREAT | os.O_RDWR, 0o600))
        for name in _OF_THE_USER_ALONE:
            if (file := self.path / name).exists() and file.stat().st_mode & _OTHERS:
                self._take_from_others(file)

    @staticmethod
    def _take_from_others(path: Path) -> None:
        try:
            path.chmod(path.stat().st_mode & 0o7700)
        except PermissionError as error:
            raise PermissionError(
                error.errno,
                "it belongs to another user, and others can read it; give another --data-dir, or chown it to the "
                "service's user",
                str(path),
            ) from None

    def _is_announced(self) -> bool:
        try:
            with (self.path / _FILE).open("r+b") as file:
                return not _took(file, fcntl.LOCK_SH, patience=0)
        except FileNotFoundError:
            return False

    def _read(self) -> dict[str, object]:
        try:
            content = json.loads((self.path / _FILE).read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _taken_text(self) -> str:
        content = self._read()
        who = f"{content.get('base_url')} (process {content.get('pid')})"
        return (
            f"another service already runs on the data folder {self.path}: "
            f"{who if self._is_announced() else 'one that is just starting, or tells no address'}. Use that one, stop "
            "it, or give another --data-dir; several replicas need the same --database-url with PostgreSQL"
        )


def _took(file: IO[str] | IO[bytes], mode: int, *, patience: float = _PATIENCE_SECONDS) -> bool:
    """Lock a file; return False when another process holds the lock for longer than a check does."""
    deadline = time.monotonic() + patience
    while not _took_at_once(file, mode):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_LOOK_SECONDS)
    return True


def _took_at_once(file: IO[str] | IO[bytes], mode: int) -> bool:
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
