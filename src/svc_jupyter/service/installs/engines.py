"""The engines of this machine: which are installed, and the installation of missing ones."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from svc_jupyter.service.installs import class_archive, maven, spark_environment
from svc_jupyter.service.installs.additions import Addition, Workshop, compile_java, folder_of
from svc_jupyter.service.installs.download import Patience
from svc_jupyter.service.installs.engine import Engine, Installed
from svc_jupyter.service.installs.failures import ArchiveFailed
from svc_jupyter.service.installs.install import Installation, failures_of_the_disk
from svc_jupyter.service.installs.java import MAJORS, JavaHome
from svc_jupyter.service.installs.java_homes import JavaHomes
from svc_jupyter.service.installs.lock import all_locks, locked
from svc_jupyter.service.installs.packages import all_package_locks
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.installs.uninstall import homes, remove

COMPILER = "ecj"
"""The name of the compiler's lock: a tool, not an engine."""


class Engines:
    """The engines in a folder that all data folders and replicas of a user share.

    When everything is installed it sends no request. All methods are safe for concurrent threads, processes and
    replicas: one installs, the others wait for it.
    """

    def __init__(
        self,
        root: Path,
        *,
        additions: Mapping[Engine, Sequence[Addition]],
        repository: str | None = None,
        environment: Mapping[str, str] = os.environ,
        patience: Patience = Patience(),  # noqa: B008  frozen
    ) -> None:
        """`repository` is `SVC_MAVEN_REPOSITORY`; `environment` holds JAVA_HOME, PATH and HOME.

        `additions` are made from an engine at its installation, in their order.
        """
        home = Path(environment.get("HOME") or Path.home())
        self.root = root
        self.installation = Installation(root, lambda: maven.repository(repository, home), patience)
        self.javas = JavaHomes(self.installation, environment)
        self._additions = additions
        self._archives_that_failed: set[Path] = set()

    def version(self, engine: Engine) -> str:
        """Return the version that this package installs."""
        return spark_environment.version() if engine is Engine.SPARK else locked(engine).version

    def installed(self, engine: Engine) -> Installed | None:
        """Return the engine if everything it needs is on this machine, or else None. Starts no program.

        `class_archive` is for the Java found last; it may be None for an installed engine.
        """
        found = self._files_of(engine)
        if found is None:
            return None
        for addition in self._additions.get(engine, ()):
            folder = folder_of(found.home, addition)
            if not folder.is_dir():
                return None
            found = _with_jars_of(found, folder)
        java = self.javas.known()
        archive = class_archive.archive_path(found, java) if java else None
        return replace(found, class_archive=archive if archive and archive.is_file() else None)

    async def ensure(self, engine: Engine, say: Say) -> Installed:
        """Return the engine, installed when missing, with progress to `say`. Raises `EngineFailure`.

        A cancellation ends the work at once; downloaded files are kept.
        """
        with failures_of_the_disk(self.root):
            await self._install_files(engine, say)
            found = self._files_of(engine)
            assert found is not None
            for addition in self._additions.get(engine, ()):
                found = await self._add(found, addition, say)
            return await self._with_archive(found, say)

    async def java(self, say: Say, *, majors: Sequence[int] = MAJORS) -> JavaHome:
        """Return a Java of one of these versions: JAVA_HOME's, the path's, or installed. Raises `EngineFailure`."""
        return await self.javas.find(say, majors)

    async def compile(
        self, sources: Sequence[Path], jars: Sequence[Path], folder: Path, say: Say, *, release: int = 17
    ) -> None:
        """Compile the project's Java sources against jars into a folder of classes. Raises `EngineFailure`."""
        lock = locked(COMPILER)
        await self.installation.install(lock, say)
        (compiler,) = self.installation.jars(lock)
        await compile_java(await self.java(say), compiler, sources, jars, folder, release=release)

    async def uninstall(self, engine: Engine, *, force: bool = False) -> int:
        """Remove all versions of the engine and the files that only it uses; return the freed bytes.

        Raises `InUse` while processes run from it, unless forced, and `EngineFailure` for errors of the disk.
        """
        folders = [home for home, name in homes(self.root).items() if name == engine]
        return await self.remove(folders, force=force)

    async def remove(self, folders: Collection[Path], *, force: bool = False) -> int:
        """Remove installed folders as `uninstall` does, such as `outdated`, or `everything`."""
        with failures_of_the_disk(self.root):
            return await remove(self.installation, folders, force=force)

    def everything(self) -> list[Path]:
        """Return the folders of all engines, of the tools and of Java, of any version."""
        return list(homes(self.root))

    def outdated(self) -> list[Path]:
        """Return the folders of versions that this package does not install: those of an older or a newer one."""
        current = {self.installation.home(lock) for lock in all_locks()}
        current |= {self.root / lock.folder_name for lock in all_package_locks()}
        return [home for home in homes(self.root) if home not in current]

    def damaged_files(self, engine: Engine) -> list[str]:
        """Return the names of installed files whose content is wrong; reads all of them."""
        if engine is Engine.SPARK:
            return spark_environment.damaged_files(self.installation)
        locks = [locked(engine), *map(locked, locked(engine).requires)]
        return [name for lock in locks for name in self.installation.wrong_files(lock)]

    async def _install_files(self, engine: Engine, say: Say) -> None:
        if engine is Engine.SPARK:
            await spark_environment.install(self.installation, say)
            return
        lock = locked(engine)
        for required in lock.requires:
            await self.installation.install(locked(required), say)
        await self.installation.install(lock, say)

    def _files_of(self, engine: Engine) -> Installed | None:
        """Return the engine's own files, without additions and archive."""
        if engine is Engine.SPARK:
            return spark_environment.installed(self.installation)
        lock = locked(engine)
        locks = [lock, *map(locked, lock.requires)]
        if not all(self.installation.is_installed(needed) for needed in locks):
            return None
        jars = tuple(jar for needed in locks for jar in self.installation.jars(needed))
        return Installed(engine, lock.version, self.installation.home(lock), jars)

    async def _add(self, found: Installed, addition: Addition, say: Say) -> Installed:
        """Make an addition unless it exists; return the engine with its jars."""
        folder = folder_of(found.home, addition)
        if not folder.is_dir():
            async with self.installation.installing(f"{found.name}-{addition.name}", say):
                if not folder.is_dir():
                    await self._make(found, addition, folder, say)
        return _with_jars_of(found, folder)

    async def _make(self, found: Installed, addition: Addition, folder: Path, say: Say) -> None:
        say(f"installing {found.name}: making {addition.name}")

        async def compile_into(
            sources: Sequence[Path], jars: Sequence[Path], target: Path, /, *, release: int = 11
        ) -> None:
            await self.compile(sources, jars, target, say, release=release)

        workshop = Workshop(found, await self.java(say), compile_into, say)
        with self.installation.staging(f"{found.home.name}-{folder.name}") as staging:
            await addition.make(workshop, staging)
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            await asyncio.to_thread(staging.rename, folder)

    async def _with_archive(self, found: Installed, say: Say) -> Installed:
        """Return the engine with the class archive for the Java in use, made when missing; failures are ignored."""
        if not class_archive.has_list(found.name, found.version):
            return found
        java = await self.java(say)
        target = class_archive.archive_path(found, java)
        if not target.is_file() and target not in self._archives_that_failed:
            async with self.installation.installing(f"{found.name}-archive", say):
                if not target.is_file():
                    say(f"installing {found.name}: making the class archive for Java {java.version}")
                    try:
                        await class_archive.make_archive(found, java)
                    except ArchiveFailed as error:
                        self._archives_that_failed.add(target)
                        say(f"! {error.message}\n  {found.name} works without, and starts more slowly")
        return replace(found, class_archive=target if target.is_file() else None)


def _with_jars_of(found: Installed, folder: Path) -> Installed:
    return replace(found, jars=(*found.jars, *sorted(folder.glob("*.jar"))))
