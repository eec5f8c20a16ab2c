"""What is made once out of an installed engine on this machine: a compiled class of ours, a relocated jar.

An addition is made when its engine is installed, in a staging folder, and comes into the installation by one rename.
Its jars follow the engine's own on the class path. Another `key` is another addition: change it with the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from svc_jupyter.service.engines.engine import Installed
from svc_jupyter.service.engines.java import JavaHome
from svc_jupyter.service.engines.progress import Say


class Compile(Protocol):
    """Compiles sources against jars into a folder of classes that run on a Java of this release or later."""

    async def __call__(
        self, sources: Sequence[Path], jars: Sequence[Path], folder: Path, /, *, release: int = 11
    ) -> None:
        """Raises `EngineFailure`."""


@dataclass(frozen=True)
class Workshop:
    """What an addition is made with: the engine as it is by then, a Java, the compiler, and whom to tell."""

    installed: Installed
    java: JavaHome
    compile: Compile
    say: Say


class Addition(Protocol):
    """Something made out of an engine at its installation."""

    @property
    def name(self) -> str:
        """A word for its folder."""

    @property
    def key(self) -> str:
        """A short digest of everything it is made from beside the engine."""

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Put the files into the empty folder; raises `EngineFailure`, `OSError`."""


def folder_of(home: Path, addition: Addition) -> Path:
    """Return where an addition lies in an installation."""
    return home / "additions" / f"{addition.name}-{addition.key}"
