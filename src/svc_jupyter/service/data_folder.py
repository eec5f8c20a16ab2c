"""The data folder: who may use it, and `service.json`, by which clients on this machine find the service."""

from __future__ import annotations

import fcntl
import json
import os
from typing import IO

import psutil

from svc_jupyter.service.settings import Settings

_FILE = "service.json"
_LOCK = "service.lock"


class DataFolderTakenError(Exception):
    """Another service already uses this data folder with its own SQLite database."""


class DataFolder:
    """The service's folder on disk. On SQLite one service at a time holds it; replicas on PostgreSQL share it."""

    def __init__(self, settings: Settings) -> None:
        self.path = settings.data_dir
        self._exclusive = settings.on_sqlite
        self._folders = (settings.data_dir, settings.storage_dir, settings.commands_dir)
        self._lock: IO[str] | None = None
        self._holds_lock = False

    def open(self) -> None:
        """Make the folders (mode 0700) and take the lock; raises `DataFolderTakenError`, `OSError`."""
        for folder in self._folders:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = (self.path / _LOCK).open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._holds_lock = True
        except BlockingIOError:
            if self._exclusive:
                self._lock.close()
                raise DataFolderTakenError(self._taken_text()) from None

    @property
    def is_announcer(self) -> bool:
        """Whether this service is the one that `service.json` tells of."""
        return self._holds_lock

    def read_token(self) -> str | None:
        """Return the token of the last service here, so that a restart keeps the one that clients have."""
        token = self._read().get("token")
        return token if isinstance(token, str) else None

    def announce(self, base_url: str, token: str, version: str) -> None:
        """Write `service.json` (mode 0600)."""
        draft = self.path / f".{_FILE}.{os.getpid()}"
        content = {"base_url": base_url, "token": token, "pid": os.getpid(), "version": version}
        with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            json.dump(content, file)
        draft.replace(self.path / _FILE)

    def close(self) -> None:
        """Give back the lock. `service.json` stays: its process number tells that it is over, its token is kept."""
        if self._lock is not None:
            self._lock.close()

    def _read(self) -> dict[str, object]:
        try:
            content = json.loads((self.path / _FILE).read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _taken_text(self) -> str:
        content = self._read()
        base_url, pid = content.get("base_url"), content.get("pid")
        is_told = base_url is not None and isinstance(pid, int) and psutil.pid_exists(pid)
        who = f"{base_url} (process {pid})" if is_told else "one that is just starting"
        return (
            f"another service already runs on the data folder {self.path}: {who}. Use that one, stop it, "
            "or give another --data-dir; several replicas need --database-url with PostgreSQL"
        )
