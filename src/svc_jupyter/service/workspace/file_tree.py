"""Files and folders below one folder: no path leads out of it, and every change is atomic.

Why not Jupyter's file manager: it writes into the file itself and keeps a copy beside it, so that a reader can see half
a file and a kill leaves one; two replicas share that copy's name; it follows symbolic links out of the folder; and its
import adds a second web server. Its strength, the notebook format, is nbformat's, which this package uses too
(`notebook_documents.py`).

A path is opened folder by folder with `O_NOFOLLOW`, each relative to the one before. So a symbolic link is never
followed, even one that a command creates between a check and its use; links, devices and pipes count as missing.

New files are written and synchronised in the folder `.drafts`, then renamed to their place. Names are created and
removed under a lock file, so that of two replicas that share the folder one finds the name taken. Deleted files are
first renamed into `.drafts`. `sweep` removes what a kill leaves there.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

Parts = Sequence[str]
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_INNER_FOLDER = _FOLDER | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Non-blocking: a pipe in place of a file must not block the thread."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1 << 20
MAX_COPIED_DEPTH = 64
"""Each level keeps two files open."""


class TooLargeError(Exception):
    """The file or folder exceeds the limit for reading or copying."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


class FileTree:
    """The files below a folder, by the parts of their paths, which contain no slash. Every method blocks.

    Raises the system's `OSError`: `FileNotFoundError` also for what is neither file nor folder, `NotADirectoryError`
    for a path through a file or a link.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._drafts = folder / ".drafts"

    def ensure_folder(self, parts: Parts) -> None:
        """Create a folder, and its parents, unless it exists."""
        self._folder.joinpath(*parts).mkdir(mode=0o700, parents=True, exist_ok=True)

    def status(self, parts: Parts) -> os.stat_result:
        """Return the status of a file or folder."""
        with self._opened(parts[:-1]) as folder:
            return _status(parts[-1], folder)

    def entries(self, parts: Parts) -> dict[str, os.stat_result]:
        """Return the files and folders of a folder by name, sorted, including hidden ones."""
        found: dict[str, os.stat_result] = {}
        with self._opened(parts) as folder:
            for name in sorted(os.listdir(folder)):
                with suppress(FileNotFoundError):
                    found[name] = _status(name, folder)
        return found

    def read(self, parts: Parts, limit: int) -> tuple[bytes, os.stat_result]:
        """Return a file's bytes; raises `TooLargeError` when it has more than `limit`."""
        with self._opened(parts[:-1]) as folder, _opened_file(parts[-1], folder) as file:
            status = os.fstat(file)
            if status.st_size > limit:
                raise TooLargeError(status.st_size)
            pieces, size = [], 0
            while piece := os.read(file, _PIECE_BYTES):
                pieces.append(piece)
                size += len(piece)
                if size > limit:  # it grows while it is read
                    raise TooLargeError(size)
            return b"".join(pieces), status

    def save(self, parts: Parts, data: bytes, *, must_exist: bool = False) -> None:
        """Store a file, replacing one of this name but keeping its mode; it is on disk on return.

        Raises `FileExistsError` when a folder has the name, `PermissionError` when the existing file is read-only, and
        with `must_exist` `FileNotFoundError` when there is none.
        """
        with self._drafted(data) as draft, self._changing(parts[:-1]) as (folder,):
            if not must_exist and not _is_taken(parts[-1], folder):
                os.rename(draft, parts[-1], dst_dir_fd=folder)
                return
            there = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(there.st_mode):
                raise FileExistsError(errno.EEXIST, "exists and is not a file", parts[-1])
            if not is_writable(there):
                raise PermissionError(errno.EACCES, "is read-only", parts[-1])
            draft.chmod(stat.S_IMODE(there.st_mode))
            os.rename(draft, parts[-1], dst_dir_fd=folder)

    def create(self, folder: Parts, names: Iterable[str], data: bytes | None) -> str:
        """Store a new file, without `data` a new folder, under the first free one of `names`; return the name.

        Raises `FileExistsError` when none is free.
        """
        with self._drafted(data) as draft:
            return self._place(draft, folder, names)

    def copy(self, source: Parts, folder: Parts, names: Iterable[str], limit: int) -> str:
        """Copy a file, or a folder with its files, to the first free one of `names`; return the name.

        Raises `FileExistsError` when none is free, `TooLargeError` for more than `limit` bytes.
        """
        draft = self._new_draft()
        try:
            with self._opened(source[:-1]) as above:
                _Copying(limit).copy(source[-1], above, str(draft), None)
            return self._place(draft, folder, names)
        finally:
            self._remove(draft)

    def move(self, source: Parts, target: Parts) -> None:
        """Move a file or folder to another path. Raises `FileExistsError` when the path exists."""
        with self._changing(source[:-1], target[:-1]) as (old, new):
            _status(source[-1], old)
            if _is_taken(target[-1], new):
                raise FileExistsError(errno.EEXIST, "exists already", target[-1])
            os.rename(source[-1], target[-1], src_dir_fd=old, dst_dir_fd=new)

    def delete(self, parts: Parts) -> None:
        """Delete a file, or a folder with its contents; it disappears at once for all readers."""
        gone = self._new_draft()
        with self._changing(parts[:-1]) as (folder,):
            _status(parts[-1], folder)
            os.rename(parts[-1], gone, src_dir_fd=folder)
        self._remove(gone)

    def sweep(self, before: float) -> None:
        """Remove what killed processes left before a time, in Unix seconds."""
        with suppress(FileNotFoundError, NotADirectoryError):
            for left in list(self._drafts.iterdir()):
                with suppress(FileNotFoundError):
                    if left.lstat().st_ctime < before:
                        self._remove(left)

    @contextmanager
    def _opened(self, parts: Parts) -> Iterator[int]:
        """Yield the descriptor of a folder, opened without following a link."""
        number = os.open(self._folder, _FOLDER)
        try:
            for part in parts:
                inner = os.open(part, _INNER_FOLDER, dir_fd=number)
                os.close(number)
                number = inner
            yield number
        finally:
            os.close(number)

    @contextmanager
    def _changing(self, *folders: Parts) -> Iterator[list[int]]:
        """Yield folders whose names no other process changes meanwhile; then sync the change to disk."""
        with ExitStack() as stack:
            with (self._folder / ".lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                opened = [stack.enter_context(self._opened(folder)) for folder in folders]
                yield opened
            for number in opened:
                os.fsync(number)

    @contextmanager
    def _drafted(self, data: bytes | None) -> Iterator[Path]:
        """Yield a new file with these bytes, or a new folder; it is removed afterwards unless it was renamed."""
        draft = self._new_draft()
        try:
            if data is None:
                draft.mkdir()
            else:
                with os.fdopen(os.open(draft, _NEW_FILE, 0o644), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            yield draft
        finally:
            self._remove(draft)

    def _place(self, draft: Path, folder: Parts, names: Iterable[str]) -> str:
        with self._changing(folder) as (opened,):
            for name in names:
                if not _is_taken(name, opened):
                    os.rename(draft, name, dst_dir_fd=opened)
                    return name
        raise FileExistsError(errno.EEXIST, "exists already")

    def _remove(self, draft: Path) -> None:
        """Remove a draft as far as possible. A folder in it becomes its own draft, so that no depth is too much."""
        left = [draft]
        while left:
            path = left.pop()
            try:
                path.unlink()
            except FileNotFoundError:
                continue
            except (IsADirectoryError, PermissionError):  # a folder; the error depends on the system
                with suppress(OSError):
                    left += self._emptied(path)
                    path.rmdir()

    def _emptied(self, folder: Path) -> Iterator[Path]:
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            inner = self._new_draft()
            os.rename(entry.path, inner)
            yield inner

    def _new_draft(self) -> Path:
        self._drafts.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._drafts / uuid4().hex


def is_writable(status: os.stat_result) -> bool:
    """Return whether its owner, the service, may change a file."""
    return bool(status.st_mode & stat.S_IWUSR)


def _status(name: str, folder: int) -> os.stat_result:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise FileNotFoundError(errno.ENOENT, "is neither a file nor a folder", name)
    return status


def _is_taken(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _opened_file(name: str, folder: int) -> Iterator[int]:
    if stat.S_ISDIR(_status(name, folder).st_mode):
        raise IsADirectoryError(errno.EISDIR, "is a folder", name)
    number = os.open(name, _FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):  # it was replaced since
            raise FileNotFoundError(errno.ENOENT, "is not a file", name)
        yield number
    finally:
        os.close(number)


class _Copying:
    """Copies files and folders, without hidden ones, until its byte limit is reached."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def copy(self, name: str, folder: int, to_name: str, to_folder: int | None, depth: int = 0) -> None:
        if stat.S_ISREG(_status(name, folder).st_mode):
            self._copy_file(name, folder, to_name, to_folder)
            return
        if depth > MAX_COPIED_DEPTH:
            raise OSError(errno.ENAMETOOLONG, f"is deeper than {MAX_COPIED_DEPTH} folders", name)
        os.mkdir(to_name, dir_fd=to_folder)
        with ExitStack() as stack:
            source = os.open(name, _INNER_FOLDER, dir_fd=folder)
            stack.callback(os.close, source)
            target = os.open(to_name, _INNER_FOLDER, dir_fd=to_folder)
            stack.callback(os.close, target)
            for inner in os.listdir(source):
                with suppress(FileNotFoundError):
                    if not inner.startswith("."):
                        self.copy(inner, source, inner, target, depth + 1)
            os.fsync(target)

    def _copy_file(self, name: str, folder: int, to_name: str, to_folder: int | None) -> None:
        with _opened_file(name, folder) as source:
            mode = stat.S_IMODE(os.fstat(source).st_mode) | stat.S_IWUSR
            with os.fdopen(os.open(to_name, _NEW_FILE, mode, dir_fd=to_folder), "wb") as target:
                while piece := os.read(source, _PIECE_BYTES):
                    self._left -= len(piece)
                    if self._left < 0:
                        raise TooLargeError(os.fstat(source).st_size)
                    target.write(piece)
                target.flush()
                os.fsync(target.fileno())
