"""A small jar with which a cluster's programs listen only at their node's own address.

Hadoop's settings bind most of its sockets; but the shuffle of a NodeManager and three sockets of a MapReduce job's
master have no setting and bind every address of the machine. `java/` changes that with one Java option.
"""

from __future__ import annotations

import shutil
import zipfile
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from svc_jupyter.service.installs.additions import Workshop

PROVIDER: Final = "svc.jupyter.OwnAddressProvider"
OPTIONS: Final = (
    f"-Djava.nio.channels.spi.SelectorProvider={PROVIDER}",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
"""Options of a program with the jar on its class path; in a container they need nothing else."""
_PACKAGE: Final = "svc_jupyter.service.runtimes.hadoop.java"
_SOURCES: Final = ("OwnAddressChannel.java", "OwnAddressProvider.java")
_RELEASE: Final = 8
"""A later one would refuse a class in the package of another module."""


@dataclass(frozen=True)
class OwnAddressJar:
    """The jar, compiled when Hadoop is installed; see `Addition`."""

    name: str = "own-address"

    @property
    def key(self) -> str:
        """A digest of the sources."""
        return _digest()

    async def make(self, workshop: Workshop, folder: Path) -> None:
        """Compile the sources and put the classes into a jar."""
        classes = folder / "classes"
        classes.mkdir()
        with ExitStack() as stack:
            sources = [stack.enter_context(as_file(files(_PACKAGE) / name)) for name in _SOURCES]
            await workshop.compile(sources, [], classes, release=_RELEASE)
        with zipfile.ZipFile(folder / "svc-own-address.jar", "w") as jar:
            for file in sorted(classes.rglob("*.class")):
                jar.write(file, str(file.relative_to(classes)))
        shutil.rmtree(classes)


@cache
def _digest() -> str:
    sources = b"\0".join((files(_PACKAGE) / name).read_bytes() for name in _SOURCES)
    return sha256(sources).hexdigest()[:10]
