"""A jar of ours in an engine's Java, compiled at its installation; its sources are a folder of the package."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

from svc_jupyter.service.engines.additions import Workshop

USUAL_RELEASE: Final = 11


@dataclass(frozen=True)
class CompiledJar:
    """The jar, compiled against the engine's own; see `Addition`."""

    name: str
    file: str
    """What the jar is called."""
    sources: str
    """The package that holds the sources."""
    release: int = USUAL_RELEASE
    """The Java that it needs at least."""

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
    """Return names and contents; read file by file, since the package may lie in an archive."""
    return sorted((file.name, file.read_bytes()) for file in files(package).iterdir() if file.name.endswith(".java"))


@cache
def _digest(package: str) -> str:
    return sha256(repr(_sources(package)).encode()).hexdigest()[:10]
