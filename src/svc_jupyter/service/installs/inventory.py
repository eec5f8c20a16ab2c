"""What is on this machine of each engine, for users."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from svc_jupyter.service.installs import class_archive
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.installs.failures import InUse
from svc_jupyter.service.installs.install import Installation
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


_FOLDER = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z]+)*)-\d[\w.]*-[0-9a-f]{12}")
"""The folder name of an installed engine or tool: name, version, digest of its lock."""


def homes(root: Path) -> dict[Path, str]:
    """Return the folders of all installations, of any version, with the name of the engine or tool."""
    found = {folder: _FOLDER.fullmatch(folder.name) for folder in root.iterdir()} if root.is_dir() else {}
    return {folder: matched["name"] for folder, matched in sorted(found.items()) if matched}


async def remove(installation: Installation, folders: Collection[Path], *, force: bool) -> int:
    """Remove installed folders and the files that nothing else uses; return the freed bytes. Raises `InUse`."""
    async with installation.changing_store():
        users = await asyncio.to_thread(lambda: [] if force else list(processes_from(folders)))
        if users:
            listed = ", ".join(f"{process.pid} ({process.info['name']})" for process in users[:5])
            raise InUse(
                f"what is to be removed is in use by the processes {listed}: terminate the clusters that run on it, "
                "or give --force"
            )
        return await asyncio.to_thread(_remove, installation, folders)


def processes_from(folders: Collection[Path]) -> Iterator[psutil.Process]:
    """Yield the running processes whose command line names one of the folders."""
    for process in psutil.process_iter(["name", "cmdline"]):
        line = process.info["cmdline"] or ()
        if any(str(home) in argument for argument in line for home in folders):
            yield process


def _remove(installation: Installation, folders: Collection[Path]) -> int:
    """Remove a folder. One rename moves it away first, so that a kill in the middle leaves no half engine."""
    freed = sum(own_bytes(home) for home in folders)
    for home in folders:
        with installation.staging(f"removed-{home.name}") as folder:
            home.rename(folder / home.name)
            shutil.rmtree(folder / home.name)
    return freed + installation.store.prune()


def own_bytes(folder: Path) -> int:
    """Return the bytes of the files below a folder that have no other link."""
    files = (file.lstat() for file in folder.rglob("*") if file.is_file())
    return sum(status.st_size for status in files if status.st_nlink == 1)
