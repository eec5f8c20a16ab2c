"""A jar of ours that runs a Pig script in a Java that is warm already; its sources lie in `java/`."""

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

MAIN_CLASS: Final = "svc.jupyter.pig.Runner"
RUNNER_JAR: Final = "svc-pig-runner.jar"
_PACKAGE: Final = "svc_jupyter.service.engines.pig.java"


@dataclass(frozen=True)
class RunnerJar:
    """The jar, compiled when Pig is installed; see `Addition`."""

    name: str = "runner"

    @property
    def key(self) -> str:
        """A digest of the sources."""
        return _digest()

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Compile the sources and put the classes into a jar."""
        sources, classes = folder / "sources", folder / "classes"
        for made in (sources, classes):
            made.mkdir()
        for name, content in _sources():
            (sources / name).write_bytes(content)
        await workshop.compile(sorted(sources.iterdir()), workshop.installed.jars, classes)
        with zipfile.ZipFile(folder / RUNNER_JAR, "w") as jar:
            for file in sorted(classes.rglob("*.class")):
                jar.write(file, str(file.relative_to(classes)))
        for made in (sources, classes):
            shutil.rmtree(made)


def _sources() -> list[tuple[str, bytes]]:
    """Return names and contents; read file by file, since the package may lie in an archive."""
    return sorted((file.name, file.read_bytes()) for file in files(_PACKAGE).iterdir() if file.name.endswith(".java"))


@cache
def _digest() -> str:
    return sha256(repr(_sources()).encode()).hexdigest()[:10]
