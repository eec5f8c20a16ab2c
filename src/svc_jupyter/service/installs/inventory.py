"""What is on this machine of each engine, for users."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from svc_jupyter.service.installs import class_archive
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.java import JavaHome

if TYPE_CHECKING:
    from svc_jupyter.service.installs.engines import Engines


@dataclass(frozen=True)
class Entry:
    """An engine: the version that this package installs, its bytes on disk, whether its class archive is missing."""

    engine: Engine
    version: str
    size: int
    is_installed: bool
    lacks_archive: bool

    @property
    def state(self) -> str:
        """The state as a text."""
        if not self.is_installed:
            return "not installed"
        return "installed, no class archive" if self.lacks_archive else "installed"


def inventory(engines: Engines, java: JavaHome | None) -> list[Entry]:
    """Return an entry per engine. A file that several engines share counts for each, though it is stored once."""
    entries = []
    for engine in Engine:
        found = engines.installed(engine)
        lacks_archive = (
            found is not None
            and java is not None
            and class_archive.has_list(found.name, found.version)
            and not class_archive.archive_path(found, java).is_file()
        )
        size = size_of(found.home) if found else 0
        entries.append(Entry(engine, engines.version(engine), size, found is not None, lacks_archive))
    return entries


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(os.lstat(Path(parent) / name).st_size for parent, _, names in os.walk(folder) for name in names)
