"""What a provider must answer: it makes machines and keeps programs running on them. It knows nothing of Hadoop.

A node is a machine with a folder of the cluster's own; a *daemon* is a long-running program on it, known by its name.
Everything here can be asked again after a restart of the service: the machines and their daemons go on meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import Instance, NewNode, Node

INSTANCE_MARK: Final = "SVC_CLUSTER_INSTANCE"
"""The instance's folder, in the environment of everything that runs for it."""
NODE_MARK: Final = "SVC_CLUSTER_NODE"
"""The node's folder."""
MARKS: Final = (INSTANCE_MARK, NODE_MARK)
"""Variables that an engine hands on to all that its daemons start: by them a provider finds it at the end."""


class ProviderFailure(Exception):
    """A provider could not do what was asked; the text is for the user: what, where, what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, slots=True)
class Daemon:
    """A program to keep running. Paths are the machine's own; `{home}` of an engine comes from `Machine.engine`."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DaemonState:
    """What became of a daemon: `pid` while it runs, else the exit code where one is known."""

    name: str
    pid: int | None = None
    exit_code: int | None = None

    @property
    def is_running(self) -> bool:
        """Whether the program is there."""
        return self.pid is not None


class Machine(Protocol):
    """One node's machine."""

    folder: PurePosixPath
    """The cluster's own folder there."""

    async def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, by their paths below the folder, each whole or not at all."""
        ...

    async def engine(self, name: str, files: Sequence[Path]) -> Sequence[PurePosixPath]:
        """Make an engine's files (jars, Java) available there; return where each lies, in the same order."""
        ...

    async def java(self) -> PurePosixPath:
        """Return the `java` to run there. Raises `ProviderFailure` where there is none."""
        ...

    async def start(self, daemon: Daemon) -> None:
        """Start a daemon in a session of its own, unless it runs already; output goes to `logs/<name>.{out,err}`."""
        ...

    async def daemons(self) -> Sequence[DaemonState]:
        """Return the state of every daemon that was started there and not stopped."""
        ...

    async def stop(self, name: str, grace_seconds: float) -> None:
        """End a daemon: SIGTERM, then SIGKILL after the grace; and forget it."""
        ...

    async def run(self, argv: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
        """Run a program to its end, its output appended to the service's file `log`; return the exit code.

        A cancellation ends it. Limit it with `asyncio.timeout`.
        """
        ...

    async def tail(self, name: str, max_bytes: int = 4096) -> str:
        """Return the end of what a daemon wrote to its error output, for the cause of a failure."""
        ...

    async def load(self) -> Mapping[str, float]:
        """Return `cpu_percent` and `disk_percent`, 0..100, of the machine as far as the cluster can see it."""
        ...


class Provider(Protocol):
    """Makes machines and takes them back."""

    name: str
    is_bound_to_host: bool
    """Whether only replicas on the host that started an instance can drive it."""

    async def make(self, instance: Instance, role: NodeRole, count: int) -> Sequence[NewNode]:
        """Make `count` machines; raises `ProviderFailure` when that many cannot be had: then none is left."""
        ...

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        ...

    async def release(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """End everything on the machines and give them back, with their folders. Done twice it does nothing."""
        ...

    async def sweep(self, instance: Instance) -> None:
        """End and delete whatever of an instance that is over may be left anywhere."""
        ...
