"""Where backups are: a folder or a place in an object store. What is put there appears whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.storage.account_storage import AccountStorage
from svc_jupyter.service.storage.credentials import check
from svc_jupyter.service.storage.failures import NothingThere
from svc_jupyter.service.storage.locations import Location, Scheme, parse_location
from svc_jupyter.service.storage.object_stores import client_faults, object_store

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")


class BackupFailure(Exception):
    """A backup or a restore did not succeed. The message says why, and what to do."""


class Target:
    """Objects in a folder or an object store. Every call may raise `BackupFailure`; threads may share it."""

    def __init__(self, store: ObjectStore, account: AccountStorage) -> None:
        self._store = store
        self._account = account
        self._base = account.base
        self._prefix = "" if self.folder is not None else _with_slash(self._base.key)

    @classmethod
    def of(cls, text: str, settings: Settings, *, create: bool) -> Self:
        """Return the target in `text`, a path or a location; with `create` a missing folder is made, with mode 0700.

        An object store is opened with the settings for backups alone, never with the account's storage: users who
        can read that one must not find the service's key there.
        """
        try:
            location = parse_location(text if "://" in text else f"file://{Path(text).expanduser().absolute()}")
            if location.scheme is Scheme.FILE:
                folder = Path(location.path)
                if create and folder.resolve().is_relative_to(settings.data_dir.resolve()):
                    raise BackupFailure(f"{folder} is in the data folder itself: give a folder elsewhere")
                return cls(_folder_store(folder, create=create), AccountStorage(location))
            if location.is_http:
                raise BackupFailure(f"{location}: give a folder, or s3://, gs:// or az://")
            account = _account(location, settings)
            check(account)
            return cls(object_store(location, account), account)
        except Invalid as error:
            raise BackupFailure(_of_backups(error.message)) from error

    def __str__(self) -> str:
        return str(self._base if self.folder is None else self.folder)

    @property
    def folder(self) -> Path | None:
        """The folder on this machine; None in an object store."""
        return Path(self._base.path) if self._base.scheme is Scheme.FILE else None

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Return the names of the objects in a folder, at any depth, each with its size in bytes."""
        import obstore

        with self._faults(folder):
            found = obstore.list(self._store, self._prefix + folder)
            return {item["path"].removeprefix(self._prefix): item["size"] for part in found for item in part}

    def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Write an object; one of the same name is replaced. An error of the iterable is raised, and writes nothing."""
        import obstore

        parts = content if isinstance(content, bytes) else iter(content)
        with self._faults(name):
            obstore.put(self._store, self._prefix + name, parts)

    def read(self, name: str) -> bytes | None:
        """Return the content of an object, None where there is none."""
        import obstore

        try:
            with self._faults(name):
                return bytes(obstore.get(self._store, self._prefix + name).bytes())
        except _Missing:
            return None

    def stream(self, name: str) -> Iterator[bytes]:
        """Yield the content of an object."""
        import obstore

        with self._faults(name):
            for part in obstore.get(self._store, self._prefix + name).stream():
                yield bytes(part)

    def delete(self, names: Collection[str]) -> None:
        """Delete objects."""
        import obstore

        with self._faults(""):
            obstore.delete(self._store, [self._prefix + name for name in names])

    def sync(self) -> None:
        """Return once everything that was put is on the disk."""
        if self.folder is not None:
            os.sync()

    @contextmanager
    def _faults(self, name: str) -> Iterator[None]:
        """Turn the errors of the store into `BackupFailure`."""
        place = self._base.joined(name) if name else self._base
        try:
            with client_faults(place, self._account):
                yield
        except NothingThere as error:
            raise _Missing(error.message) from error
        except Invalid as error:
            raise BackupFailure(self._said(error)) from error

    def _said(self, error: Invalid) -> str:
        """Return what to tell: for a folder the system's own words."""
        code = _SYSTEM_ERROR.search(str(error.__context__))
        if self.folder is None or code is None:
            return _of_backups(error.message)
        return f"{self.folder}: {os.strerror(int(code[1]))}"


class _Missing(BackupFailure):
    """There is no such object."""


def _folder_store(folder: Path, *, create: bool) -> ObjectStore:
    from obstore.store import LocalStore

    try:
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not folder.is_dir():
            raise BackupFailure(f"{folder}: there is no such folder")
        return LocalStore(folder)
    except OSError as error:
        raise BackupFailure(f"{folder}: {error.strerror or error}") from error


def _account(location: Location, settings: Settings) -> AccountStorage:
    access_key, secret_key = (
        None if secret is None else secret.get_secret_value()
        for secret in (settings.backup_access_key, settings.backup_secret_key)
    )
    return AccountStorage(location, access_key, secret_key, settings.backup_region, settings.backup_endpoint)


def _of_backups(message: str) -> str:
    """Return a message about a location, with the settings to which it applies here."""
    stored = re.sub(r"; an administrator .*", "; check SVC_BACKUP_ACCESS_KEY and SVC_BACKUP_SECRET_KEY", message)
    return stored.replace("PUT account/storage", "SVC_BACKUP_…").replace("account/storage", "SVC_BACKUP_…")


def _with_slash(key: str) -> str:
    return f"{key.rstrip('/')}/" if key.strip("/") else ""
