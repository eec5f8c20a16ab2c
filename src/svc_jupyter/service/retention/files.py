"""Measuring and removing the files of commands, in pieces."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path

from svc_jupyter.api.retention import Files

LOG = "log"
_AT_ONCE = 100
_DEEPEST = 50
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def sizes(root: Path) -> dict[Files, int]:
    """Return the bytes of a command's files; 0 for what is not there."""
    found = {Files.RESULTS: 0, Files.LOGS: 0}
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                of = Files.LOGS if name == LOG and folder == str(root) else Files.RESULTS
                found[of] += os.lstat(os.path.join(folder, name)).st_size
    return found


def remove(root: Path, *, results: bool, log: bool, until: float) -> bool:
    """Remove files of a command until a time of the monotonic clock; return whether all are gone.

    Never follows a link. The folder itself goes with its last file. Raises `OSError` for what cannot be removed.
    """
    try:
        entries = list(os.scandir(root))
    except FileNotFoundError:
        return True
    for entry in entries:
        if not (log if entry.name == LOG else results):
            continue
        if not entry.is_dir(follow_symlinks=False):
            with suppress(FileNotFoundError):
                os.unlink(entry.path)
        elif not _remove_tree(Path(entry.path), until):
            return False
    try:
        root.rmdir()
    except OSError:  # what remains is kept, or came from a deep folder
        return not results or os.listdir(root) == [LOG]
    return True


def _remove_tree(folder: Path, until: float) -> bool:
    """Remove a tree until a time; return whether it is gone."""
    parent = os.open(folder.parent, _FOLDER)
    try:
        with closing(_removing(folder.name, parent, parent, depth=0)) as removing:
            if any(time.monotonic() > until for _ in removing):
                return not folder.exists()
    finally:
        os.close(parent)
    return not folder.exists()


def _removing(name: str, parent: int, top: int, *, depth: int) -> Generator[None, None, None]:
    """Remove a tree, and yield after a few files and each folder. Deep folders move to the top, for the next call."""
    _open_up(name, parent)
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries, start=1):
                if not entry.is_dir(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        os.unlink(entry.name, dir_fd=folder)
                    if number % _AT_ONCE == 0:
                        yield
                elif depth < _DEEPEST:
                    yield from _removing(entry.name, folder, top, depth=depth + 1)
                else:
                    os.rename(entry.name, f"deep-{secrets.token_hex(8)}", src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)
    yield


def _open_up(folder: str, descriptor: int) -> None:
    """Allow a folder's files to be removed: programs can leave folders without the permission."""
    with suppress(OSError):
        found = os.stat(folder, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(folder, stat.S_IRWXU, dir_fd=descriptor)
