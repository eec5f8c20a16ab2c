"""R environments: libraries that R's own functions fill, from exact locks with the digests of the sources.

The steps in `r_packages.R` need R. This module handles digests, locks and the cache.
"""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc_jupyter.service.packages.installer import BUILD_SECONDS, VERIFY_SECONDS, BuildFailure, failure, too_slow
from svc_jupyter.service.packages.r_sources import (
    RCache,
    RInstallation,
    Source,
    digest_of,
    find_r,
    keys_of,
    read_lock,
    write_lock,
)
from svc_jupyter.service.processes.tool import run
from svc_jupyter.service.processes.worker_parent import MARK

_SCRIPT: Final = Path(__file__).with_name("r_packages.R")
_LOCK_FILE: Final = "packages.lock"
_NO_LIBRARIES: Final = {"R_LIBS": "", "R_LIBS_USER": "NULL", "R_LIBS_SITE": "NULL"}
"""An environment is complete: R must find nothing in the user's or the machine's own libraries."""
_ENGLISH: Final = {"LANGUAGE": "en"}
_NOISE: Final = ("trying URL", "Content type", "Warning in ")


class RPackages:
    """Builds R libraries. R gets `inherited` from the service's environment, including its repositories."""

    def __init__(self, inherited: Mapping[str, str], cache: Path) -> None:
        self._inherited = inherited
        self._cache = RCache(cache)

    async def build(
        self, folder: Path, version: str, requested: Sequence[str], *, lock: str | None, keep: str | None
    ) -> str:
        """Build an environment (see `Installer.build`)."""
        r = await asyncio.to_thread(find_r, self._inherited.get("PATH"))
        if r is None:
            raise BuildFailure("R is not on this machine any more (there is no Rscript on the path): install it")
        if not r.runs_packages_of(version):
            raise BuildFailure(f"this is an environment of R {version}, this machine has R {r.version}: make a new one")
        return await _Build(folder, r, self._inherited, self._cache).run(requested, lock, keep)


@dataclass(frozen=True, slots=True)
class _Build:
    """One build, in its folder."""

    folder: Path
    r: RInstallation
    inherited: Mapping[str, str]
    cache: RCache

    async def run(self, requested: Sequence[str], lock: str | None, keep: str | None) -> str:
        """Return the lock of the finished library."""
        for folder in (self._library, self._work, self._sources, self._temporary):
            folder.mkdir(parents=True)
        if lock is None:
            await self._resolve(requested, read_lock(keep))
            sources = await asyncio.to_thread(self._chosen)
        else:
            sources = read_lock(lock)
            await self._fetch(sources)
        await self._fill(sources)
        made = write_lock(sources)
        (self.folder / _LOCK_FILE).write_text(made)
        await asyncio.to_thread(shutil.rmtree, self._work)
        return made

    async def _resolve(self, requested: Sequence[str], kept: Sequence[Source]) -> None:
        """Choose the versions and get their sources; `kept` are the current ones."""
        self._write("requested", requested)
        self._write("kept", [source.pin for source in kept])
        await asyncio.to_thread(self._take_sources, kept)
        await self._step("resolve")

    def _chosen(self) -> list[Source]:
        """Return the chosen sources, and store them in the cache."""
        sources = []
        for line in (self._work / "chosen").read_text().splitlines():
            name, version = line.split("==")
            file = self._sources / Source(name, version, "").file_name
            sources.append(Source(name, version, digest_of(file)))
            self.cache.keep_source(file, sources[-1].sha256)
        return sources

    async def _fetch(self, sources: Sequence[Source]) -> None:
        """Get the sources of a lock: those in the cache need no repository."""
        self._write("chosen", [source.pin for source in sources])
        missing = await asyncio.to_thread(self._take_sources, sources)
        if not missing:
            return
        await self._step("fetch")
        for source in missing:
            file = self._sources / source.file_name
            if await asyncio.to_thread(digest_of, file) != source.sha256:
                raise BuildFailure(
                    f"{source.name} {source.version} of the repository is another than the one in the lock: "
                    f"the SHA-256 of its source is not {source.sha256}"
                )
            await asyncio.to_thread(self.cache.keep_source, file, source.sha256)

    async def _fill(self, sources: Sequence[Source]) -> None:
        """Install the sources and verify the library; packages in the cache are not installed again."""
        keys = await asyncio.to_thread(keys_of, sources, self._sources, self._about_r())
        missing = await asyncio.to_thread(self._take_packages, keys)
        await self._install(missing)
        try:
            await self._step("verify", VERIFY_SECONDS)
        except BuildFailure:
            taken = keys.keys() - set(missing)
            if not taken:
                raise
            await asyncio.to_thread(self._forget_packages, [keys[name] for name in taken])
            await self._install(sorted(keys))
            await self._step("verify", VERIFY_SECONDS)
        for name, key in keys.items():
            await asyncio.to_thread(self.cache.keep_package, self._library / name, key)

    async def _install(self, names: Sequence[str]) -> None:
        if names:
            self._write("missing", names)
            await self._step("install")

    def _take_sources(self, sources: Sequence[Source]) -> list[Source]:
        """Put cached sources in their place; return the others."""
        return [source for source in sources if not self.cache.take_source(source, self._sources / source.file_name)]

    def _take_packages(self, keys: Mapping[str, str]) -> list[str]:
        """Put cached packages into the library; return the names of the others."""
        return sorted(name for name, key in keys.items() if not self.cache.take_package(key, self._library / name))

    def _forget_packages(self, keys: Sequence[str]) -> None:
        """Empty the library and its cache entries: the system's libraries may have changed since."""
        for key in keys:
            self.cache.forget_package(key)
        shutil.rmtree(self._library)
        self._library.mkdir()

    async def _step(self, step: str, seconds: float = BUILD_SECONDS) -> None:
        """Run a step of the script. Raises `BuildFailure`."""
        try:
            ended = await run(
                [self.r.rscript, _SCRIPT, step],
                seconds=seconds,
                env={**self.inherited, **_NO_LIBRARIES, **_ENGLISH, **self._temporary_folder(), MARK: str(self.folder)},
                cwd=self._work,
            )
        except TimeoutError:
            raise too_slow(seconds) from None
        if ended.code != 0:
            raise failure(ended, _NOISE)

    def _write(self, file: str, lines: Sequence[str]) -> None:
        (self._work / file).write_text("".join(f"{line}\n" for line in lines))

    def _about_r(self) -> str:
        return f"R {self.r.version} {self.r.rscript.resolve()} {platform.machine()} {'-'.join(platform.libc_ver())}"

    def _temporary_folder(self) -> dict[str, str]:
        """Return the variable that puts R's temporary files into the build; R accepts no folder with a space."""
        return {} if " " in str(self._temporary) else {"TMPDIR": str(self._temporary)}

    @property
    def _work(self) -> Path:
        """Temporary files, removed at the build's end."""
        return self.folder / "build"

    @property
    def _sources(self) -> Path:
        return self._work / "sources"

    @property
    def _library(self) -> Path:
        return library_of(self.folder)

    @property
    def _temporary(self) -> Path:
        return self._work / "tmp"


def library_of(folder: Path) -> Path:
    """Return the library of an environment, where R finds its packages."""
    return folder / "library"
