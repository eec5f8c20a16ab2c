"""Restores a backup into an empty data folder, and its database into SQLite there or into an empty PostgreSQL.

The identity is written first and the database last: a start refuses a folder whose restore was killed in between.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError

from svc_jupyter.service.backup import manifest
from svc_jupyter.service.backup.files import WORK
from svc_jupyter.service.backup.manifest import DATABASE, End, Entry, Head
from svc_jupyter.service.backup.snapshot import Snapshot
from svc_jupyter.service.backup.target import BackupFailure, Target
from svc_jupyter.service.data_folder import copying, identity
from svc_jupyter.service.data_folder.copying import CopyFailure
from svc_jupyter.service.data_folder.data_folder import DataFolderTakenError
from svc_jupyter.service.database import migrations
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings

_THREADS: Final = 8
_OF_THE_DISK: Final = frozenset({"lost+found"})


@dataclass(frozen=True, slots=True)
class Restored:
    """The backup that was restored."""

    name: str
    head: Head
    end: End


def backups(settings: Settings, text: str) -> list[tuple[str, Head, End]]:
    """Return the backups at a place, oldest first. Raises `BackupFailure`."""
    target = _source(settings, text)
    return [(name, head, end) for name in manifest.names(target) for head, _, end in [manifest.read(target, name)]]


def restore(settings: Settings, text: str, *, at: str | None = None) -> Restored:
    """Restore the newest backup at the place in `text`, or the one named `at`, into the data folder of the settings.

    A failed restore leaves the folder and the database empty. Raises `BackupFailure`, `DataFolderTakenError` where a
    service works on the folder, and `OSError`.
    """
    data_dir = settings.data_dir
    _refuse_unless_empty(data_dir)
    target = _source(settings, text)
    name = at or manifest.names(target)[-1]
    head, entries, end = manifest.read(target, name)
    if head.revision > migrations.HEAD:
        raise BackupFailure(
            f"the backup {name} is of svc-jupyter {head.version}, which is newer than this one: upgrade this "
            "installation first"
        )
    _expect_all(target, name, entries)
    with _taken(data_dir):
        try:
            _restore(settings, target, head, entries)
        except BaseException:
            _clear(data_dir)
            raise
    return Restored(name, head, end)


def _restore(settings: Settings, target: Target, head: Head, entries: Sequence[Entry]) -> None:
    work = settings.data_dir / WORK
    work.mkdir(mode=0o700)
    identity.identity_of(settings, head.identity).write(settings.data_dir)
    fetch = _Fetcher(target, settings.data_dir)
    database = next((entry for entry in entries if entry.path == DATABASE), None)
    if database is None:
        raise BackupFailure(f"{target}: the backup has no database")
    fetch.file(database, work / DATABASE)
    try:
        with closing(Snapshot(settings, work)) as snapshot:
            if not settings.on_sqlite:
                _refuse_used(settings)
            migrations.upgrade(snapshot.database)
            snapshot.leave_the_machine(head.host)
            _fetch_all(fetch, [entry for entry in entries if entry.path != DATABASE])
            os.sync()
            if not settings.on_sqlite:
                _fill(settings, snapshot)
        if settings.on_sqlite:
            with closing(sqlite3.connect(work / DATABASE)) as copy:  # the file alone, without its log
                copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (work / DATABASE).replace(settings.data_dir / DATABASE)
    except DBAPIError as error:
        raise BackupFailure(f"the database cannot be used: {str(error.orig).strip()}") from error
    except (CopyFailure, sqlite3.Error) as error:
        raise BackupFailure(str(error)) from error
    shutil.rmtree(work)
    os.sync()


class _Fetcher:
    """Writes files of a backup into a folder."""

    def __init__(self, target: Target, data_dir: Path) -> None:
        self._target = target
        self.data_dir = data_dir

    def __call__(self, entry: Entry) -> None:
        """Write a file of the data folder, with its mode and time."""
        file = self.data_dir / entry.path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # of a folder that was removed during the backup
        self.file(entry, file)
        file.chmod(entry.mode)
        os.utime(file, ns=(entry.modified_ns, entry.modified_ns))

    def file(self, entry: Entry, file: Path) -> None:
        """Write a file. Raises `BackupFailure` where it is not as it was."""
        whole = hashlib.sha256()
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as opened:
            for part in self._target.stream(entry.content):
                whole.update(part)
                opened.write(part)
        if whole.hexdigest() != entry.sha256:
            raise BackupFailure(
                f"{self._target}: the backup is damaged: {entry.path} ({entry.content}) is not what was written. "
                "Restore another one with --at"
            )


def _fetch_all(fetch: _Fetcher, entries: Sequence[Entry]) -> None:
    """Write folders, then files, then links, so that no write follows one; then the modes of folders."""
    data_dir = fetch.data_dir
    folders = [entry for entry in entries if entry.sha256 is None and entry.link is None]
    for entry in folders:
        (data_dir / entry.path).mkdir(mode=0o700, parents=True, exist_ok=True)
    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="restore")
    try:
        for _ in pool.map(fetch, (entry for entry in entries if entry.sha256 is not None)):
            pass
    finally:
        pool.shutdown(cancel_futures=True)
    for entry in entries:
        if entry.link is not None and not os.path.lexists(data_dir / entry.path):
            (data_dir / entry.path).symlink_to(entry.link)
    for entry in reversed(folders):
        os.utime(data_dir / entry.path, ns=(entry.modified_ns, entry.modified_ns))
        (data_dir / entry.path).chmod(entry.mode)


def _source(settings: Settings, text: str) -> Target:
    """Return a place with at least one complete backup."""
    target = Target.of(text, settings, create=False)
    manifest.check_mark(target)
    if not manifest.names(target):
        raise BackupFailure(f"{target}: no backup there is complete: the only one was begun and did not end")
    return target


def _expect_all(target: Target, name: str, entries: Iterable[Entry]) -> None:
    """Raise `BackupFailure` for a backup with a missing file, before anything is written."""
    there = target.sizes(manifest.CONTENTS)
    for entry in entries:
        if entry.sha256 is not None and there.get(entry.content) != entry.size:
            raise BackupFailure(
                f"{target}: the backup {name} is damaged: {entry.path} ({entry.content}) is missing or incomplete. "
                "Restore another one with --at"
            )


def _refuse_unless_empty(data_dir: Path) -> None:
    there = sorted({entry.name for entry in data_dir.iterdir()} - _OF_THE_DISK) if data_dir.is_dir() else []
    if not there:
        return
    with (data_dir / "service.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataFolderTakenError(
                f"a service works on the data folder {data_dir}: restore into another, empty folder"
            ) from None
    raise BackupFailure(f"the data folder {data_dir} is not empty: it has {there[0]}; restore into an empty one")


@contextmanager
def _taken(data_dir: Path) -> Iterator[None]:
    """Keep services off the folder meanwhile."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    data_dir.chmod(0o700)
    with (data_dir / "service.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _clear(data_dir: Path) -> None:
    """Remove what a failed restore has written."""
    for entry in data_dir.iterdir():
        if entry.name in _OF_THE_DISK:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()


def _refuse_used(settings: Settings) -> None:
    database = Database(settings)
    try:
        with database.connect() as connection:
            copying.refuse_unless_empty(connection, settings)
    finally:
        database.close()


def _fill(settings: Settings, snapshot: Snapshot) -> None:
    database = Database(settings)
    try:
        with snapshot.database.connect() as reading:
            copying.fill(database, settings, reading, lambda *_: None)
    finally:
        database.close()
