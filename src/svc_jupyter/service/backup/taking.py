"""Takes a backup while the service works: first the database as of one moment, then the files.

A row is committed before its command's folder is made, and its end after all files of the command are written. So every
file of a command that has ended in the database's copy is there, unless a rule or a user has deleted it since.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from svc_jupyter.service.backup import manifest
from svc_jupyter.service.backup.files import METASTORE, WORK, Copier, metastore_paths, paths
from svc_jupyter.service.backup.manifest import DATABASE, End, Entry, Head
from svc_jupyter.service.backup.snapshot import Snapshot
from svc_jupyter.service.backup.target import BackupFailure, Target
from svc_jupyter.service.data_folder.identity import FolderIdentity
from svc_jupyter.service.database import migrations
from svc_jupyter.service.ground.settings import Settings

_THREADS: Final = 8
_SETTLED_NS: Final = 2 * 10**9
"""A file changed so shortly before a backup may have changed once more after it was read, at the same tick."""
_METASTORE_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup. `new_bytes` were not in the target before."""

    name: str
    head: Head
    end: End
    new_bytes: int
    deleted: int


def back_up(settings: Settings, text: str, *, keep: int | None = None) -> Backup:
    """Back up the service of a data folder to the target in `text`; return the backup.

    With `keep`, older backups than so many are deleted afterwards. Raises `BackupFailure`, `OSError`, and
    `RuntimeError` for a database that does not belong to the folder.
    """
    belongs = FolderIdentity.read(settings.data_dir)
    if belongs is None:
        raise BackupFailure(f"{settings.data_dir} is not the data folder of a service: give its --data-dir")
    with _work_folder(settings.data_dir) as work:
        target = Target.of(text, settings, create=True)
        manifest.claim(target, belongs.key)
        begun = datetime.now(UTC)
        name = f"{begun:%Y%m%dT%H%M%S}.{begun.microsecond // 1000:03}Z"
        with closing(Snapshot(settings, work)) as snapshot:
            beside = snapshot.take()
            folders = snapshot.command_folders()
        copier = _copier(settings.data_dir, target)
        entries = [_database(snapshot.file, copier), *_copied(settings.data_dir, copier, folders)]
        end = End(
            files=sum(1 for entry in entries if entry.sha256 is not None),
            bytes=sum(entry.size or 0 for entry in entries),
            left_out=copier.left_out | beside,
        )
        head = Head(
            format=manifest.FORMAT,
            version=version("svc-jupyter"),
            revision=migrations.HEAD,
            identity=belongs.key,
            made_at=begun.isoformat(),
            host=socket.gethostname(),
            database=belongs.kind,
            commands=len(folders),
        )
        target.sync()
        _check(target, belongs.key, entries)
        manifest.write(target, name, head, entries, end)
        target.sync()
        deleted = 0 if keep is None else _delete_old(target, keep)
    return Backup(name, head, end, copier.new_bytes, deleted)


@contextmanager
def _work_folder(data_dir: Path) -> Iterator[Path]:
    """Yield an empty folder in the data folder, while no other backup of it runs."""
    folder = data_dir / WORK
    with (data_dir / "backup.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupFailure(f"another backup of {data_dir} runs: wait for its end") from None
        shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _copier(data_dir: Path, target: Target) -> Copier:
    """Return a copier that knows the files of the newest backup; a damaged one counts as none."""
    known: dict[str, Entry] = {}
    settled_ns = 0
    if there := manifest.names(target):
        try:
            head, entries, _ = manifest.read(target, there[-1])
        except BackupFailure:
            pass
        else:
            known = {entry.path: entry for entry in entries if entry.sha256 is not None}
            settled_ns = int(datetime.fromisoformat(head.made_at).timestamp() * 1e9) - _SETTLED_NS
    return Copier(data_dir, target, known, settled_ns)


def _database(file: Path, copier: Copier) -> Entry:
    digest, size = copier.put(file)
    return Entry(DATABASE, 0o600, file.stat().st_mtime_ns, 0, size=size, sha256=digest)


def _copied(data_dir: Path, copier: Copier, folders: set[str]) -> list[Entry]:
    """Copy all files; return their entries."""

    def not_read(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            copier.left_out[os.path.relpath(error.filename, data_dir)] = error.strerror or str(error)

    pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="backup")
    try:
        found = list(pool.map(copier.copy, paths(data_dir, folders, not_read)))
    finally:
        pool.shutdown(cancel_futures=True)
    return [entry for entry in found if entry is not None] + _metastore(data_dir, copier)


def _metastore(data_dir: Path, copier: Copier) -> list[Entry]:
    """Copy the files of the Hive metastore's own database, all of one moment: until none changes meanwhile."""
    for _ in range(_METASTORE_ATTEMPTS):
        before = _stamps(data_dir)
        found = [copier.copy(path) for path in metastore_paths(data_dir)]
        if _stamps(data_dir) == before:
            return [entry for entry in found if entry is not None]
    copier.left_out[METASTORE] = "the Hive metastore changed it again and again while it was read"
    return []


def _stamps(data_dir: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in metastore_paths(data_dir):
        try:
            status = (data_dir / path).lstat()
        except FileNotFoundError:
            continue
        found[path] = status.st_size, status.st_ctime_ns
    return found


def _check(target: Target, identity: str, entries: list[Entry]) -> None:
    """Raise `BackupFailure` where something is no longer in the target, such as a disk that was taken away."""
    there = target.sizes(manifest.CONTENTS)
    gone = [entry for entry in entries if entry.sha256 is not None and there.get(entry.content) != entry.size]
    if gone:
        raise BackupFailure(
            f"{target}: {len(gone)} of the files that were written are no longer there, such as {gone[0].path}: was "
            "the target unmounted or emptied? Run the backup again"
        )
    manifest.claim(target, identity)


def _delete_old(target: Target, keep: int) -> int:
    """Delete all backups but the newest, and contents that no other backup has; return how many backups."""
    old, kept = manifest.names(target)[:-keep], manifest.names(target)[-keep:]
    if old:
        needed = {entry.content for name in kept for entry in manifest.read(target, name)[1] if entry.sha256}
        manifest.delete(target, old)
        target.delete(target.sizes(manifest.CONTENTS).keys() - needed)
    return len(old)
