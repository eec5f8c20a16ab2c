"""Turns file system errors into errors for the caller."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, ServiceError, Unavailable
from svc_jupyter.service.workspace.contents_paths import ContentsPath
from svc_jupyter.service.workspace.file_tree import TooLargeError

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_OUT_OF_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DISTURBED = frozenset({errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.ENOLCK, errno.ETIMEDOUT})


@contextmanager
def told(path: ContentsPath) -> Iterator[None]:
    """Raise a file system error of a path as an error for the caller; an unexpected `OSError` is raised unchanged."""
    try:
        yield
    except OSError as error:
        failure = _failure(path, error)
        if failure is None:
            raise
        raise failure from error
    except TooLargeError as error:
        raise Invalid(f"{path} is too large to be read or copied at once: {error.size} bytes") from error


def _failure(path: ContentsPath, error: OSError) -> ServiceError | None:
    if error.errno in _ABSENT:
        return NotFound(f"there is no file or folder {path}")
    if error.errno == errno.EEXIST:
        return Invalid(f"{path} exists already; choose another name, or delete it first")
    if error.errno == errno.EISDIR:
        return Invalid(f"{path} is a folder")
    if error.errno == errno.ENAMETOOLONG:
        return Invalid(f"{path}: {error.strerror}")
    if error.errno in _REFUSED:
        return Forbidden(f"{path} cannot be changed: {error.strerror}; whoever owns its file can allow it")
    if error.errno in _OUT_OF_ROOM:
        return Unavailable(f"{path} cannot be written: {error.strerror}; what was there is unchanged")
    if error.errno in _DISTURBED:
        return Unavailable(f"{path} cannot be reached just now: {error.strerror}")
    return None
