"""Files made once from an installed engine on this machine: a compiled class, a relocated jar.

An addition is made when its engine is installed, in a staging folder, and moved into the installation by one rename.
Its jars follow the engine's own on the class path. A new `key` makes a new addition: change it with the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from svc_jupyter.service.installs.engine import Installed
from svc_jupyter.service.installs.java import JavaHome
from svc_jupyter.service.installs.progress import Say


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
