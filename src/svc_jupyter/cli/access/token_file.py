"""Write a new token to a file that only its owner can read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from svc_jupyter.cli.access.actions import OperatorError

_MODE = 0o600


@contextmanager
def new_token_file(path: Path) -> Iterator[TextIO]:
    """Yield a new file of mode 0600, created before the token and removed if no token is created.

    Raises `OperatorError` for an existing file, and when it cannot be created.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    except FileExistsError:
        raise OperatorError(f"{path} is there already; name another file, or remove it") from None
    except OSError as error:
        raise OperatorError(f"{path}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, _MODE)  # independent of the umask
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_token(file: TextIO, token: str) -> None:
    """Write the token and flush it to disk. Raises `OSError`, for example when the disk is full."""
    file.write(f"{token}\n")
    file.flush()
    os.fsync(file.fileno())
