"""Files made once from an installed engine on this machine: a compiled class, a relocated jar.

An addition is made when its engine is installed, in a staging folder, and moved into the installation by one rename.
Its jars follow the engine's own on the class path. A new `key` makes a new addition: change it with the inputs.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from svc_jupyter.service.installs.engine import Installed
from svc_jupyter.service.installs.failures import CompilationFailed
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.installs.progress import Say
from svc_jupyter.service.processes.tool import run


class Compile(Protocol):
    """Compiles sources against jars into a folder of classes that run on a Java of this release or later."""

    async def __call__(
        self, sources: Sequence[Path], jars: Sequence[Path], folder: Path, /, *, release: int = 11
    ) -> None:
        """Raises `EngineFailure`."""


@dataclass(frozen=True)
class Workshop:
    """The tools for an addition: the engine so far, a Java, the compiler, and the progress callback."""

    installed: Installed
    java: JavaHome
    compile: Compile
    say: Say


class Addition(Protocol):
    """Files made from an engine at its installation."""

    @property
    def name(self) -> str:
        """The name of its folder."""

    @property
    def key(self) -> str:
        """A short digest of all its inputs other than the engine."""

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Put the files into the empty folder; raises `EngineFailure`, `OSError`."""


def folder_of(home: Path, addition: Addition) -> Path:
    """Return the folder of an addition in an installation."""
    return home / "additions" / f"{addition.name}-{addition.key}"


USUAL_RELEASE: Final = 11
_COMPILER = "org.eclipse.jdt.internal.compiler.batch.Main"
_SECONDS = 120.0


@dataclass(frozen=True)
class CompiledJar:
    """The jar, compiled against the engine's own; see `Addition`."""

    name: str
    file: str
    """The jar's file name."""
    sources: str
    """The package that holds the sources."""
    release: int = USUAL_RELEASE
    """The oldest Java that it supports."""

    @property
    def key(self) -> str:
        """A digest of the sources."""
        return _digest(self.sources)

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Compile the sources and put the classes into a jar."""
        sources, classes = folder / "sources", folder / "classes"
        for made in (sources, classes):
            made.mkdir()
        for name, content in _sources(self.sources):
            (sources / name).write_bytes(content)
        jars = workshop.installed.jars
        await workshop.compile(sorted(sources.iterdir()), jars, classes, release=self.release)
        with zipfile.ZipFile(folder / self.file, "w") as jar:
            for file in sorted(classes.rglob("*.class")):
                jar.write(file, str(file.relative_to(classes)))
        for made in (sources, classes):
            shutil.rmtree(made)


def _sources(package: str) -> list[tuple[str, bytes]]:
    """Return names and contents; reads file by file, since the package may be in an archive."""
    return sorted((file.name, file.read_bytes()) for file in files(package).iterdir() if file.name.endswith(".java"))


@cache
def _digest(package: str) -> str:
    return sha256(repr(_sources(package)).encode()).hexdigest()[:10]


async def compile_java(
    java: JavaHome, compiler: Path, sources: Sequence[Path], jars: Sequence[Path], folder: Path, *, release: int = 17
) -> None:
    """Compile the sources against jars into a folder of classes; raises `CompilationFailed` with the compiler's
    message.

    Warnings are dropped: they are about the libraries. `release` is the oldest Java on which the classes run.
    """
    names = ", ".join(source.name for source in sources)
    arguments = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", str(compiler), _COMPILER]
    arguments += ["-source", str(release), "-target", str(release), "-nowarn", "-proc:none", "-encoding", "UTF-8"]
    arguments += ["-classpath", ":".join(map(str, jars)), "-d", str(folder), *map(str, sources)]
    try:
        ended = await run([java.java, *arguments], seconds=_SECONDS)
    except TimeoutError as error:
        raise CompilationFailed(f"compiling {names} took longer than {_SECONDS:.0f} s: try again") from error
    if ended.code:
        raise CompilationFailed(f"{names} did not compile:\n{ended.output.strip()}")
