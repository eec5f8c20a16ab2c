"""Presto's plug-ins, unpacked from their zip files: one folder of jars each, shared by all nodes of this machine.

Hive's plug-in loses 140 MB of clients of stores and catalogues that these clusters do not use: a starting node opens
every jar. ASM 9.0 does not read the classes of Java 17; 9.7 does, and is compatible.
"""

from __future__ import annotations

import asyncio
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from svc_jupyter.service.installs.additions import Workshop, folder_of
from svc_jupyter.service.installs.engine import Installed
from svc_jupyter.service.installs.install import JARS

PLUGINS: Final = ("hive-hadoop2", "memory", "postgresql", "tpch")
_LEFT_OUT: Final = ("alluxio-shaded-client-", "ranger-apache-", "aws-java-sdk-glue-")
"""Only for Alluxio's caches, Ranger's policies and another cloud's catalogue."""
_ASM: Final = "asm-"


@dataclass(frozen=True)
class Plugins:
    """The folders, made when Presto is installed; see `Addition`."""

    name: str = "plugins"
    key: str = "1"

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Unpack every plug-in into a folder of its own name."""
        await asyncio.to_thread(unpack_all, workshop.installed, folder)


def unpack_all(installed: Installed, folder: Path) -> None:
    """Unpack the plug-ins of an installed Presto. Raises `OSError`."""
    library = installed.home / JARS
    newer = {jar.name.rpartition("-")[0]: jar for jar in installed.jars if jar.name.startswith(_ASM)}
    for name in PLUGINS:
        unpack(library / f"presto-{name}-{installed.version}.zip", folder / name, newer)


def unpack(archive: Path, folder: Path, newer: Mapping[str, Path]) -> None:
    """Unpack a plug-in's jars into a folder; those in `newer`, by name without version, replace its own.

    Raises `OSError`.
    """
    folder.mkdir(mode=0o700)
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            name = PurePosixPath(entry.filename).name
            if entry.is_dir() or name.startswith(_LEFT_OUT):
                continue
            if (replacement := newer.get(name.rpartition("-")[0])) is not None:
                shutil.copyfile(replacement, folder / replacement.name)
                continue
            with opened.open(entry) as source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)


def plugins_folder(installed: Installed) -> Path:
    """Return the folder with one folder per plug-in."""
    return folder_of(installed.home, Plugins())
