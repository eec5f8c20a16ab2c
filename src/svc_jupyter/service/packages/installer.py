"""Builds a version of an environment: the interface between the builder and the languages."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.service.processes.tool import Ended
from svc_jupyter.terminal_text import lines_shown

BUILD_SECONDS: Final = 1800.0
"""Enough for a large package over a slow line, or one that is compiled."""
VERIFY_SECONDS: Final = 120.0
DISK_FULL: Final = "the disk is full; make room, then do it again"
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")
_NO_SPACE = "No space left on device"
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 2000


class BuildFailure(Failure):
    """An environment could not be built; the text holds the installer's own words."""


class Installer(Protocol):
    """Builds environments of a language."""

    async def build(
        self, folder: Path, version: str, requested: Sequence[str], *, lock: str | None, keep: str | None
    ) -> str:
        """Build an environment in `folder`, which does not exist yet; return its lock.

        `version` is that of the language. A given `lock` is used as it is; otherwise the newest versions that fit
        `requested` are resolved, as close to those of the lock `keep` as possible. Raises `BuildFailure`.
        """
        ...


def failure(ended: Ended, noise: Sequence[str] = ()) -> BuildFailure:
    """Return why an installer failed: the end of its output, without lines that begin with one of `noise`.

    Omits the credentials in the address of an index.
    """
    if _NO_SPACE in ended.output:
        return BuildFailure(DISK_FULL)
    lines = [line for line in lines_shown(ended.output.strip()) if not line.startswith(tuple(noise))]
    text = os.linesep.join(lines[-_SHOWN_LINES:])[-_SHOWN_CHARACTERS:]
    return BuildFailure(_CREDENTIALS.sub("", text).strip() or f"the installer ended with code {ended.code}")


def too_slow(seconds: float) -> BuildFailure:
    """Return the failure of an installer that took too long."""
    return BuildFailure(f"it took longer than {seconds:g} s; try again")
