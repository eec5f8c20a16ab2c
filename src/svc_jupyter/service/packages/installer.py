"""What makes a version of an environment: the seam between the builder and the languages."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from svc_jupyter.service.engines.process import Ended

BUILD_SECONDS: Final = 1800.0
"""A large package over a slow line, or one that is compiled."""
VERIFY_SECONDS: Final = 120.0
DISK_FULL: Final = "the disk is full; make room, then do it again"
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_NO_SPACE = "No space left on device"
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 2000


class BuildFailure(Exception):
    """An environment could not be built; the text says why, in the installer's own words."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Installer(Protocol):
    """Makes environments of a language."""

    async def build(
        self, folder: Path, version: str, requested: Sequence[str], *, lock: str | None, keep: str | None
    ) -> str:
        """Make an environment in `folder`, which is not there yet; return its lock.

        `version` is that of the language. `lock` is taken as it is; without one the newest versions that fit
        `requested` are found, as near to those of the lock `keep` as they can be. Raises `BuildFailure`.
        """
        ...


def failure(ended: Ended, noise: Sequence[str] = ()) -> BuildFailure:
    """Return why an installer failed: the end of its output, without lines that begin as `noise` does.

    The credentials that the address of an index may hold are left out.
    """
    if _NO_SPACE in ended.output:
        return BuildFailure(DISK_FULL)
    lines = [line for line in ended.output.strip().splitlines() if not line.startswith(tuple(noise))]
    text = os.linesep.join(lines[-_SHOWN_LINES:])[-_SHOWN_CHARACTERS:]
    return BuildFailure(_CREDENTIALS.sub("", text).strip() or f"the installer ended with code {ended.code}")


def too_slow(seconds: float) -> BuildFailure:
    """Return what is told of an installer that took too long."""
    return BuildFailure(f"it took longer than {seconds:g} s; try again")
