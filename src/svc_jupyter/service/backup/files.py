"""The files of a data folder, and copying each to a target while programs write them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from svc_jupyter.service.backup.manifest import DATABASE, Entry, content_name
from svc_jupyter.service.backup.target import Target

WORK: Final = "backup"
"""The folder in the data folder for the database's copy during a backup or a restore."""
METASTORE: Final = "hive/metastore/derby"
"""The files of a database of its own: only together are they of use."""
LEFT_OUT: Final = frozenset(
    (
        *(f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")),
        *(WORK, "backup.lock", "identity.json", "service.json", "service.log"),
        *("service.lock", "start.lock", "announce.lock", "clusters", "catalogues", "pig", "hive"),
    )
)
"""What is at the top of a data folder and not in a backup: the database is copied apart; a restore writes the identity;
the rest is of this machine, or made again.
"""
_IN_ONE_PIECE = 4 * 2**20
_PART = 2**20
_ATTEMPTS = 3
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Changed(Exception):
    """A file was overwritten between two reads."""


def paths(data_dir: Path, commands: Collection[str], on_error: Callable[[OSError], None]) -> Iterator[str]:
    """Yield what is in a data folder, relative to it, each folder before its contents; links are not followed.

    Folders of commands that are not in `commands` are newer than the database's copy, and left out.
    """
    for folder, folders, names in os.walk(data_dir, onerror=on_error):
        relative = os.path.relpath(folder, data_dir)
        here = "" if relative == "." else f"{relative}/"
        if not here:
            for found in (folders, names):
                found[:] = [name for name in found if name not in LEFT_OUT]
        elif Path(relative).parent == Path("commands"):
            folders[:] = [name for name in folders if f"{here}{name}" in commands]
        yield from (f"{here}{name}" for name in (*folders, *names))


def metastore_paths(data_dir: Path) -> list[str]:
    """Return the folders and files of the Hive metastore's own database; empty where it has none."""
    if not (data_dir / METASTORE).is_dir():
        return []
    inside = (data_dir / METASTORE).rglob("*")
    return ["hive", "hive/metastore", METASTORE, *sorted(str(path.relative_to(data_dir)) for path in inside)]


class Copier:
    """Copies files to the contents of a target, where each content is once. Threads may share it."""

    def __init__(self, data_dir: Path, target: Target, known: Mapping[str, Entry], settled_ns: int) -> None:
        """`known` has the files of the backup before; those changed before `settled_ns` need not be read again."""
        self._data_dir = data_dir
        self._target = target
        self._known = known
        self._settled_ns = settled_ns
        self._there = set(target.sizes("contents"))
        self.new_bytes = 0
        self.left_out: dict[str, str] = {}
        """Why a file is not in the backup, by its path; one that was deleted meanwhile is not among them."""

    def copy(self, path: str) -> Entry | None:
        """Copy a file to the target; return its entry, None for one that is left out."""
        try:
            return self._copied(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.left_out[path] = error.strerror or str(error)
        except Changed:
            self.left_out[path] = "it was overwritten again and again while it was read"
        return None

    def put(self, file: Path) -> tuple[str, int]:
        """Copy the content of a file; return its SHA-256 and size.

        What is appended to it meanwhile is not in it. Raises `Changed` if its content was overwritten.
        """
        with open(os.open(file, _OPEN), "rb", buffering=0) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size <= _IN_ONE_PIECE:
                content = b"".join(_parts(opened, size))
                digest = hashlib.sha256(content).hexdigest()
                if content_name(digest) not in self._there:
                    self._put(digest, len(content), content)
                return digest, len(content)
            whole, read = hashlib.sha256(), 0
            for part in _parts(opened, size):
                whole.update(part)
                read += len(part)
            digest = whole.hexdigest()
            if content_name(digest) not in self._there:
                opened.seek(0)
                self._put(digest, read, _same(_parts(opened, read), digest))
            return digest, read

    def _copied(self, path: str) -> Entry | None:
        file = self._data_dir / path
        found = file.lstat()
        entry = Entry(path, stat.S_IMODE(found.st_mode), found.st_mtime_ns, found.st_ctime_ns)
        if stat.S_ISLNK(found.st_mode):
            return replace(entry, link=os.readlink(file))
        if stat.S_ISDIR(found.st_mode):
            return entry
        if not stat.S_ISREG(found.st_mode):
            return None  # a pipe or a socket of a running program
        before = self._known.get(path)
        if before is not None and self._is_unchanged(before, entry, found.st_size):
            return before
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                digest, size = self.put(file)
            except Changed:
                if attempt == _ATTEMPTS:
                    raise
            else:
                return replace(entry, size=size, sha256=digest)
        raise AssertionError

    def _is_unchanged(self, before: Entry, now: Entry, size: int) -> bool:
        """Compare by the time of the last change, which no program can set."""
        same = (before.size, before.mode, before.changed_ns) == (size, now.mode, now.changed_ns)
        return same and now.changed_ns < self._settled_ns and before.content in self._there

    def _put(self, digest: str, size: int, content: bytes | Iterator[bytes]) -> None:
        self._target.put(content_name(digest), content)
        self._there.add(content_name(digest))
        self.new_bytes += size


def _parts(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first bytes of a file, fewer where it became shorter."""
    while size > 0 and (part := file.read(min(size, _PART))):
        size -= len(part)
        yield part


def _same(parts: Iterator[bytes], digest: str) -> Iterator[bytes]:
    """Yield the parts; raise `Changed` at the end if they have another digest, so that nothing is written."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
        yield part
    if whole.hexdigest() != digest:
        raise Changed
