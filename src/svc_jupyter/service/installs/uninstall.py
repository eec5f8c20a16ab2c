"""Removes installations: their folders, then the files in the store that nothing else uses."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

import psutil

from svc_jupyter.service.installs.failures import InUse
from svc_jupyter.service.installs.install import Installation

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
