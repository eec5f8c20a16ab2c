"""A new token's way into a file that only its owner can read."""

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
    """Yield a new file of mode 0600, which is there before the token is made and gone again when none was.

    Raises `OperatorError` for a file that is there already, and where none can be made.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    except FileExistsError:
        raise OperatorError(f"{path} is there already; name another file, or remove it") from None
    except OSError as error:
        raise OperatorError(f"{path}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, _MODE)  # whatever the umask takes away
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_token(file: TextIO, token: str) -> None:
    """Write the token, on disk when this returns. Raises `OSError`, as for a full disk."""
    file.write(f"{token}\n")
    file.flush()
    os.fsync(file.fileno())
