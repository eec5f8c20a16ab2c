"""Installs the files of a lock: files into the store, links into a staging folder, one rename."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path

from svc_jupyter.service.installs.download import Downloads, Patience
from svc_jupyter.service.installs.failures import DiskFull, FolderUnusable
from svc_jupyter.service.installs.lock import Artifact, Lock
from svc_jupyter.service.installs.progress import DownloadProgress, Say
from svc_jupyter.service.installs.store import Store, digest_of, file_lock

JARS = "lib"
"""The folder of the locked files in an installation."""

_SPARE_BYTES = 32 * 2**20
"""Free space that an installation leaves on the disk."""

_MEGABYTE = 1e6


class Installation:
    """The engines' folder: one folder per installed lock, the store, and the installers' locks."""

    def __init__(self, root: Path, repository: Callable[[], str], patience: Patience) -> None:
        self.root = root
        self.store = Store(root / "store")
        self._repository = repository
        self._patience = patience

    def home(self, lock: Lock) -> Path:
        """Return the folder of the lock's files, which may not exist yet."""
        return self.root / f"{lock.name}-{lock.version}-{lock.digest}"

    def jars(self, lock: Lock) -> tuple[Path, ...]:
        """Return the installed jars in the order of the class path, without the lock's other files."""
        return tuple(file for file in self.files(lock) if file.suffix == ".jar")

    def files(self, lock: Lock) -> tuple[Path, ...]:
        """Return all installed files in the order of the lock."""
        return tuple(self.home(lock) / JARS / artifact.file_name for artifact in lock.artifacts)

    def is_installed(self, lock: Lock) -> bool:
        """Return whether the folder exists: it is created by one rename, so it is complete."""
        return self.home(lock).is_dir()

    async def install(self, lock: Lock, say: Say) -> Path:
        """Return the folder of the lock, installed when missing; raises `EngineFailure`."""
        home = self.home(lock)
        if home.is_dir():
            return home
        with failures_of_the_disk(self.root):
            self.store.make_folders()
            async with self.installing(lock.name, say), file_lock(self._store_lock, shared=True):
                if not home.is_dir():
                    await self._download(lock, say)
                    await asyncio.to_thread(self._put_in_place, lock, home)
        return home

    @contextmanager
    def staging(self, name: str) -> Iterator[Path]:
        """Yield an empty folder beside the installations; removes what is left in it at the end."""
        folder = self.root / "staging" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def make_once(self, home: Path, say: Say, what: str, make: Callable[[Path], Awaitable[None]]) -> None:
        """Make a folder unless it is there, whole or not at all; `what` is said before. Raises `EngineFailure`."""
        is_there = home.is_dir
        if is_there():
            return
        with failures_of_the_disk(self.root):
            async with self.installing(home.name, say):
                if not is_there():
                    say(what)
                    with self.staging(home.name) as folder:
                        await make(folder)
                        folder.rename(home)

    def installing(self, name: str, say: Say) -> AbstractAsyncContextManager[int]:
        """Hold the lock for installing a name, on this machine."""
        return file_lock(
            self.root / "locks" / name, waits=lambda: say(f"waiting: another process is installing {name}")
        )

    def changing_store(self) -> AbstractAsyncContextManager[int]:
        """Hold the lock for removing files from the store: no installation uses any meanwhile."""
        return file_lock(self._store_lock)

    @property
    def _store_lock(self) -> Path:
        return self.root / "locks" / "store"

    async def _download(self, lock: Lock, say: Say) -> None:
        missing = await asyncio.to_thread(self.store.missing, lock.artifacts)
        if not missing:
            return
        self._check_room(lock, missing)
        progress = DownloadProgress(lock.name, sum(artifact.size for artifact in missing), say)
        await Downloads(self._repository(), self.store, self._patience).fetch(missing, progress)

    def _check_room(self, lock: Lock, missing: list[Artifact]) -> None:
        needed = sum(artifact.size for artifact in missing) + _SPARE_BYTES
        free = shutil.disk_usage(self.root).free
        if free < needed:
            raise DiskFull(
                f"{lock.name} needs {needed / _MEGABYTE:,.0f} MB in {self.root}, and {free / _MEGABYTE:,.0f} MB are "
                "free: make room, or set SVC_ENGINES_DIR to a folder on another disk"
            )

    def _put_in_place(self, lock: Lock, home: Path) -> None:
        with self.staging(home.name) as folder:
            (folder / JARS).mkdir()
            for artifact in lock.artifacts:
                self.store.link(artifact, folder / JARS / artifact.file_name)
            folder.rename(home)

    def wrong_files(self, lock: Lock) -> list[str]:
        """Return the names of installed files that are missing or do not match the lock; reads all of them."""
        return [
            artifact.file_name
            for artifact, file in zip(lock.artifacts, self.files(lock), strict=True)
            if not file.is_file() or digest_of(file) != artifact.sha256
        ]


@contextmanager
def failures_of_the_disk(root: Path) -> Iterator[None]:
    """Turn the system's errors about the engines' folder into failures that say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"the disk of {root} is full: make room, or set SVC_ENGINES_DIR to a folder on another disk. "
                "What has been downloaded is kept"
            ) from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise FolderUnusable(
            f"{error.filename or root}: {reason}. Engines are installed in {root}: make it writable, "
            "or set SVC_ENGINES_DIR to a folder of your own"
        ) from error
