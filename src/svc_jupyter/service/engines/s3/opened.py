"""Which access to the account's store a running daemon was given: a digest in a file beside it."""

from __future__ import annotations

from pathlib import Path

from svc_jupyter.service.engines.s3.access import S3Access


def opens(file: Path, access: S3Access) -> bool:
    """Return whether the daemon with this file opens the store by this access; one without a file opens none."""
    try:
        return file.read_text("ascii") == access.digest
    except FileNotFoundError:
        return not access.is_needed


def note_opened(file: Path, access: S3Access) -> None:
    """Write down what a daemon is started with; raises `OSError`."""
    file.write_text(access.digest, "ascii")
