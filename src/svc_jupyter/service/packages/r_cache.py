"""A cache of fetched and installed R packages in the user's cache folder.

Several builds use it at once: every entry is made at a temporary path and renamed. It may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from uuid import uuid4

from svc_jupyter.service.packages.r_sources import Source, digest_of


class RCache:
    """The sources by their digests, and the installed packages by all their inputs."""

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
