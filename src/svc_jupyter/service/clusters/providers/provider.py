"""The interface of a provider: it makes machines and keeps programs running on them. It does not know the engines.

A node is a machine with a folder of the cluster; a *daemon* is a long-running program on it, identified by its name.
Every call can be repeated after a restart of the service: the machines and their daemons continue meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import Instance, NewNode, Node
from svc_jupyter.service.ground.errors import Failure

INSTANCE_MARK: Final = "SVC_CLUSTER_INSTANCE"
"""The instance's folder, in the environment of everything that runs for it."""
NODE_MARK: Final = "SVC_CLUSTER_NODE"
"""The node's folder, in the environment of the node's processes."""
MARKS: Final = (INSTANCE_MARK, NODE_MARK)
"""Variables that an engine must pass on to all processes of its daemons, so that the provider finds them at the end."""


class ProviderFailure(Failure):
    """A provider could not do what was asked; the message tells the user what, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Daemon:
    """A program to keep running. Paths are the machine's; `{home}` of an engine comes from `Machine.engine`."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DaemonState:
    """The state of a daemon: `pid` while it runs, else the exit code where it is known."""

    name: str
    pid: int | None = None
    exit_code: int | None = None

    @property
    def is_running(self) -> bool:
        """Whether the program runs."""
        return self.pid is not None


class Machine(Protocol):
    """One node's machine."""

    folder: PurePosixPath
    """The cluster's folder on the machine."""

    async def write(self, files: Mapping[str, bytes]) -> None:
        """Write files by their paths below the folder, each atomically."""
        ...

    async def engine(self, name: str, files: Sequence[Path]) -> Sequence[PurePosixPath]:
        """Make an engine's files (jars, Java) available; return where each lies, in the same order."""
        ...

    async def java(self) -> PurePosixPath:
        """Return the `java` to run there. Raises `ProviderFailure` where there is none."""
        ...

    async def start(self, daemon: Daemon) -> None:
        """Start a daemon in a session of its own unless it runs; output goes to `logs/<name>.{out,err}`."""
        ...

    async def daemons(self) -> Sequence[DaemonState]:
        """Return the state of every started and not stopped daemon."""
        ...

    async def stop(self, name: str, grace_seconds: float) -> None:
        """End a daemon with SIGTERM, after the grace with SIGKILL, and forget it."""
        ...

    async def run(self, argv: Sequence[str], *, environment: Mapping[str, str], log: Path) -> int:
        """Run a program to its end, its output appended to the service's file `log`; return the exit code.

        A cancellation ends it. Use `asyncio.timeout` for a limit.
        """
        ...

    async def tail(self, name: str, max_bytes: int = 4096) -> str:
        """Return the end of a daemon's error output, for the cause of a failure."""
        ...

    async def load(self) -> Mapping[str, float]:
        """Return `cpu_percent` and `disk_percent`, 0..100, of the machine as the cluster sees it."""
        ...


async def runs(machine: Machine, name: str) -> bool:
    """Return whether a daemon runs on a machine."""
    return any(daemon.name == name and daemon.is_running for daemon in await machine.daemons())


class Provider(Protocol):
    """Makes and releases machines."""

    name: str
    is_bound_to_host: bool
    """Whether only replicas on the host that started an instance can drive it."""

    async def make(self, instance: Instance, role: NodeRole, count: int) -> Sequence[NewNode]:
        """Make `count` machines; raises `ProviderFailure` when not all are available, and then leaves none."""
        ...

    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return a node's machine."""
        ...

    async def release(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """End all processes on the machines, delete their folders and release them. Repeated, it does nothing."""
        ...

    async def sweep(self, instance: Instance) -> None:
        """End and delete all remains of an ended instance."""
        ...
