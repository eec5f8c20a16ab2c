"""Sources of R packages: their locks, and the inputs of an installed package."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final
from uuid import uuid4

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.packages.installer import BuildFailure

_LOCKED: Final = re.compile(r"^(?P<name>\S+)==(?P<version>\S+) \\\n {4}--hash=sha256:(?P<sha256>[0-9a-f]{64})$", re.M)
_NEEDED: Final = ("Depends", "Imports", "LinkingTo")
_NAME: Final = re.compile(r"[A-Za-z0-9.]+")


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a package at a version, with the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    @property
    def pin(self) -> str:
        """Its name and version."""
        return f"{self.name}=={self.version}"

    @property
    def file_name(self) -> str:
        """Its name in a repository."""
        return f"{self.name}_{self.version}.tar.gz"


def read_lock(lock: str | None) -> list[Source]:
    """Return the sources in a lock."""
    return [Source(match["name"], match["version"], match["sha256"]) for match in _LOCKED.finditer(lock or "")]


def write_lock(sources: Iterable[Source]) -> str:
    """Return the lock of these sources, in the same form as Python's."""
    ordered = sorted(sources, key=lambda source: source.name)
    return "".join(f"{source.pin} \\\n    --hash=sha256:{source.sha256}\n" for source in ordered)


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def keys_of(sources: Sequence[Source], folder: Path, r: str) -> dict[str, str]:
    """Return a key for each package, by its name: packages with the same key install identically.

    The key covers the package's source, those of all its dependencies, and the R that installs it, which `r` describes.
    `folder` holds the sources. Raises `BuildFailure` for circular dependencies.
    """
    by_name = {source.name: source for source in sources}
    graph = {name: needs_in(folder / source.file_name, name) & by_name.keys() for name, source in by_name.items()}
    keys: dict[str, str] = {}
    try:
        for name in TopologicalSorter(graph).static_order():
            of_needed = sorted(keys[needed] for needed in graph[name])
            parts = [r, by_name[name].pin, by_name[name].sha256, *of_needed]
            keys[name] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    except CycleError as error:
        raise BuildFailure(f"these packages need each other, so that none can be installed: {error.args[1]}") from None
    return keys


def needs_in(file: Path, name: str) -> set[str]:
    """Return the names of the packages that a source needs to be installed. Raises `BuildFailure` if it is invalid."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            member = next(member for member in archive if member.name.removeprefix("./") == f"{name}/DESCRIPTION")
            opened = archive.extractfile(member)
            text = "" if opened is None else opened.read().decode("utf-8", "replace")
    except (tarfile.TarError, EOFError, StopIteration) as error:
        raise BuildFailure(f"{file.name} is not the source of a package of R: {error or 'no DESCRIPTION'}") from None
    fields = HeaderParser().parsestr(text)
    needed = (entry.strip() for field in _NEEDED for entry in str(fields.get(field, "")).split(","))
    return {match[0] for entry in needed if (match := _NAME.match(entry))}


class RCache:
    """The sources by their digests, and the installed packages by all their inputs, in the user's cache folder.

    Several builds use it at once: every entry is made at a temporary path and renamed. It may be deleted at any time.
    """

    def __init__(self, folder: Path) -> None:
        self._sources = folder / "sources"
        self._installed = folder / "installed"
        self._staging = folder / "staging"

    def keep_source(self, file: Path, sha256: str) -> None:
        """Store a source under its digest."""
        self._keep(file, self._sources / sha256)

    def take_source(self, source: Source, target: Path) -> bool:
        """Put a source in its place; return False if it is not in the cache, or damaged."""
        kept = self._sources / source.sha256
        if not _taken(kept, target):
            return False
        if digest_of(target) == source.sha256:
            return True
        target.unlink()
        self._forget(kept)
        return False

    def keep_package(self, folder: Path, key: str) -> None:
        """Store an installed package."""
        self._keep(folder, self._installed / key)

    def take_package(self, key: str, target: Path) -> bool:
        """Put an installed package in its place; return False if it is not in the cache."""
        return _taken(self._installed / key, target)

    def forget_package(self, key: str) -> None:
        """Remove an installed package that does not work."""
        self._forget(self._installed / key)

    def _keep(self, what: Path, place: Path) -> None:
        for folder in (place.parent, self._staging):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if place.exists():
            return
        beside = self._staging / uuid4().hex
        _copy(what, beside)
        try:
            beside.rename(place)
        except OSError:  # another build was first
            shutil.rmtree(beside)

    def _forget(self, place: Path) -> None:
        aside = self._staging / uuid4().hex
        with contextlib.suppress(FileNotFoundError):
            place.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
        aside.unlink(missing_ok=True)


def _taken(kept: Path, target: Path) -> bool:
    """Put an entry in its place; return whether that worked, since it may be deleted meanwhile."""
    try:
        _copy(kept, target)
    except (FileNotFoundError, shutil.Error):
        shutil.rmtree(target, ignore_errors=True)
        return False
    return True


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, copy_function=_link)
    else:
        _link(source, target)


def _link(source: str | Path, target: str | Path) -> None:
    """Hard-link a file, which takes no room; copy it where that is not possible, as between two disks."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copy2(source, target)


_VERSION = re.compile(r"version (\d+(?:\.\d+)*)")
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RInstallation:
    """`Rscript` and the version of its R."""

    rscript: Path
    version: str

    def is_of(self, version: str) -> bool:
        """Return whether it is an R of a version, which may be a prefix: `4`, `4.2`."""
        return f"{self.version}.".startswith(f"{version}.")

    def runs_packages_of(self, version: str) -> bool:
        """Return whether packages installed by that R version work with it: patch releases are compatible."""
        return self.version.split(".")[:2] == version.split(".")[:2]


def find_r(path: str | None = None) -> RInstallation | None:
    """Return the R whose `Rscript` is on the path, by default the service's; None where there is none. Blocks."""
    rscript = shutil.which("Rscript", path=path)
    if rscript is None:
        return None
    ended = subprocess.run(
        [rscript, "--version"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    match = _VERSION.search(ended.stdout)
    return None if match is None else RInstallation(Path(rscript), match[1])


def installed_version(wanted: str | None) -> str:
    """Return the version of the installed R. Raises `Invalid` if it is not the wanted one."""
    r = find_r()
    if r is None:
        raise Invalid("env_type: R is not on this machine (there is no Rscript on the path): install R")
    if wanted is not None and not r.is_of(wanted):
        raise Invalid(f"r_version: R {wanted} is not on this machine, R {r.version} is")
    return r.version
