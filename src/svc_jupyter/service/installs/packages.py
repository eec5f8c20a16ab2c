"""Engines that are Python packages, installed by `uv` from exact locks with hashes, apart from the service's."""

from __future__ import annotations

import csv
import os
import re
import sys
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

from svc_jupyter.service.installs.failures import DiskFull, InvalidLock, PackagesFailed
from svc_jupyter.service.installs.store import digest_of
from svc_jupyter.service.processes.tool import Ended, run

_PACKAGE = "svc_jupyter.service.installs.locks"
_FILE_NAME = re.compile(r"(?P<name>[a-z0-9]+)-(?P<version>\d[\w.]*)\.txt")
_INSTALL_SECONDS = 1800
"""Enough for 456 MB of Spark over a slow line."""


@dataclass(frozen=True)
class PackageLock:
    """A file of pinned requirements with hashes, named by the version of its main package."""

    name: str
    version: str
    file_name: str
    text: str

    @property
    def digest(self) -> str:
        """A short digest of the whole lock."""
        return sha256(self.text.encode()).hexdigest()[:12]

    @property
    def folder_name(self) -> str:
        """The name of an installation's folder."""
        return f"{self.name}-{self.version}-{self.digest}"


@cache
def all_package_locks() -> tuple[PackageLock, ...]:
    """Return the package's locks of Python packages."""
    named = ((_FILE_NAME.fullmatch(file.name), file) for file in files(_PACKAGE).iterdir())
    found = (
        PackageLock(match["name"], match["version"], file.name, file.read_text()) for match, file in named if match
    )
    return tuple(sorted(found, key=lambda lock: lock.file_name))


def locked_packages(name: str, version_prefix: str = "") -> PackageLock:
    """Return the package's lock of Python packages; raises `InvalidLock` when there is none."""
    for lock in all_package_locks():
        if lock.name == name and f"{lock.version}.".startswith(version_prefix):
            return lock
    raise InvalidLock(f"there is no lock for {name} {version_prefix} in this installation of svc-jupyter")


async def install_into_folder(lock: PackageLock, folder: Path) -> None:
    """Put the packages' files below a folder, without an interpreter; raises `PackagesFailed`, `DiskFull`."""
    await _install(lock, "--target", str(folder))


async def install_into_environment(lock: PackageLock, folder: Path) -> None:
    """Make a relocatable virtual environment with the packages; raises `PackagesFailed`, `DiskFull`."""
    made = await _uv("venv", "--relocatable", "--python", sys.executable, str(folder))
    _judge(lock, made)
    await _install(lock, "--python", str(folder / "bin" / "python"))


def damaged_packages(folder: Path) -> list[str]:
    """Return the files of all packages in a folder that are missing or do not match the packages' records."""
    damaged = []
    for record in sorted(folder.glob("*.dist-info/RECORD")):
        for name, recorded, _ in csv.reader(record.read_text().splitlines()):
            file = folder / name
            if recorded.startswith("sha256=") and not (file.is_file() and _base64_digest(file) == recorded[7:]):
                damaged.append(name)
    return damaged


def _base64_digest(file: Path) -> str:
    """Return the digest in the form of package records."""
    return urlsafe_b64encode(bytes.fromhex(digest_of(file))).decode().rstrip("=")


async def _install(lock: PackageLock, *where: str) -> None:
    with as_file(files(_PACKAGE) / lock.file_name) as requirements:
        ended = await _uv("pip", "install", "--require-hashes", "--requirement", str(requirements), *where)
    _judge(lock, ended)


async def _uv(*arguments: str) -> Ended:
    from uv import find_uv_bin

    # A project in the caller's working folder must have no effect.
    environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV_PROJECT")}
    try:
        return await run(
            [find_uv_bin(), *arguments, "--no-progress"], seconds=_INSTALL_SECONDS, env=environment, cwd=Path("/")
        )
    except TimeoutError as error:
        raise PackagesFailed(f"installing Python packages took longer than {_INSTALL_SECONDS} s: try again") from error


def _judge(lock: PackageLock, ended: Ended) -> None:
    if ended.code == 0:
        return
    if "No space left on device" in ended.output:
        raise DiskFull(
            f"the disk is full while {lock.name} {lock.version} is installed: make room, or set SVC_ENGINES_DIR "
            "(and UV_CACHE_DIR) to folders on another disk"
        )
    raise PackagesFailed(
        f"{lock.name} {lock.version} could not be installed from the package index:\n{ended.last_lines}\n"
        "Check the network; UV_DEFAULT_INDEX names another index"
    )
