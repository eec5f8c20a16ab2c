"""Confines a worker to the folder of a tap's file: users may replace the file, or a folder on the way, by a link.

The service has checked the path with all links resolved (`connections.checked_file`). Between this check and the moment
when SQLite opens the file, its journal or its write-ahead log, a path may come to lead elsewhere.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from svc_jupyter.service.db_taps.engines.engine import cannot_connect
from svc_jupyter.service.db_taps.job import Job
from svc_jupyter.service.processes.landlock import confine

_SYSTEM: Final = tuple(map(Path, ("/bin", "/dev/null", "/dev/urandom", "/etc", "/lib", "/lib64", "/proc", "/usr")))
_PACKAGES: Final = Path(__file__).parents[4]


def confine_to_tap(job: Job) -> None:
    """Let this thread open files only in the folder of the job's tap and in the job's own, and read programs.

    Raises `QueryFailure` where the path leads elsewhere than at its check. Without Landlock, only this is checked.
    """
    file = Path(job.connection.target)
    try:
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise cannot_connect(job.connection.address, "the file does not exist") from None
    except OSError as error:
        raise cannot_connect(job.connection.address, f"its folder cannot be opened: {error.strerror}") from error
    own = os.open(job.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not _is_opened(folder, file.parent) or file.is_symlink():
            raise cannot_connect(job.connection.address, "the file was moved or replaced while it was opened")
        confine(changed=(folder, own), read=(*_SYSTEM, Path(sys.prefix), Path(sys.base_prefix), _PACKAGES))
    finally:
        os.close(folder)
        os.close(own)


def _is_opened(descriptor: int, path: Path) -> bool:
    """Return whether a descriptor is what was at this path; always true where the system does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}") == str(path)
    except OSError:
        return True
