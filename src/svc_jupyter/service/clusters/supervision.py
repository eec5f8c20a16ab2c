"""Supervises running clusters: restarts daemons that died, and updates the status in the nodes' rows."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Coroutine
from typing import Any, Final, NoReturn

import structlog

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.instances import Instance, Instances, Node
from svc_jupyter.service.clusters.providers.provider import DaemonState, Machine, ProviderFailure
from svc_jupyter.service.ground.errors import first_of

WINDOW_SECONDS: Final = 120.0
TROUBLED_AFTER: Final = 5
_LONGEST_SECONDS: Final = 30.0
_SEEN_EVERY: Final = 5.0
"""Seconds between two updates of a node's `last_seen_at`."""
_DEATHS_EVERY: Final = 0.5
_OUTPUT_BYTES: Final = 32_768
"""How much of a daemon's output is searched for the cause of its end."""
_Key = tuple[int, int, str]
log = structlog.get_logger(__name__)


class Deaths:
    """The deaths of one daemon; times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def note(self, now: float) -> None:
        """Record a death; the daemon is then restarted."""
        self._times.append(now)

    def may_restart(self, now: float) -> bool:
        """Whether it may be restarted now: at once, then 1, 2, 4 … 30 seconds after the last death."""
        recent = self._recent(now)
        return recent == 0 or now - self._times[-1] >= min(_LONGEST_SECONDS, 2.0 ** (recent - 1))

    def is_troubled(self, now: float) -> bool:
        """Whether it dies so often that a user should look at it."""
        return self._recent(now) >= TROUBLED_AFTER

    def _recent(self, now: float) -> int:
        while self._times and now - self._times[0] > WINDOW_SECONDS:
            self._times.popleft()
        return len(self._times)


class Daemons(ABC):
    """The daemons of one engine's clusters."""

    @abstractmethod
    def machine(self, instance: Instance, node: Node) -> Machine:
        """Return the machine of a node."""

    @abstractmethod
    def daemons_of(self, node: Node) -> Collection[str]:
        """Return the names of the daemons that always run on a node."""

    @abstractmethod
    def cause(self, daemon: str, node: Node, output: str, exit_code: int | None) -> str:
        """Return the cause of a daemon's end as text for the user; `output` is the end of its error output."""

    @abstractmethod
    async def registered(self, instance: Instance) -> Collection[str] | None:
        """Return the addresses of the workers that get work; None while the coordinator does not answer."""

    @abstractmethod
    async def restart(self, instance: Instance, node: Node, daemon: str) -> None:
        """Restart a daemon with its existing files. Raises `ClusterFailure` and `ProviderFailure`."""


class Supervision:
    """Supervises the daemons of all running clusters of one engine."""

    def __init__(self, instances: Instances, daemons: Daemons) -> None:
        self._instances = instances
        self._daemons = daemons
        self._deaths: dict[_Key, Deaths] = {}
        self._reported: dict[int, str] = {}

    async def look(self, instance: Instance) -> None:
        """Check every node once. Nodes that a command is adding or removing are only recorded as seen."""
        registered = await self._daemons.registered(instance)
        troubles = []
        for node in instance.nodes:
            if node.claimed_by is not None:
                if registered and node.private_ip in registered:
                    await self._note_seen(node)
                continue
            try:
                is_whole, trouble = await self._keep_running(instance, node)
            except (ClusterFailure, ProviderFailure) as failure:  # still check the other nodes
                is_whole, trouble = False, [failure.message]
            troubles += trouble
            await self._note_status(node, status_of(node, registered, daemons_run=is_whole))
        await self._report(instance, "; ".join(troubles))

    def forget(self, instance: Instance) -> None:
        """Drop the state of an ended cluster."""
        self._deaths = {key: deaths for key, deaths in self._deaths.items() if key[0] != instance.id}
        self._reported.pop(instance.id, None)

    async def _keep_running(self, instance: Instance, node: Node) -> tuple[bool, list[str]]:
        """Restart dead daemons; return whether all ran, and the names of those that die repeatedly."""
        machine = self._daemons.machine(instance, node)
        states = {state.name: state for state in await machine.daemons()}
        is_whole, troubles = True, []
        for name in sorted({*self._daemons.daemons_of(node), *states}):
            state = states.get(name, DaemonState(name))
            if state.is_running:
                continue
            is_whole = False
            deaths = self._deaths.setdefault((instance.id, node.id, name), Deaths())
            now = time.monotonic()
            cause = self._daemons.cause(name, node, await machine.tail(name, _OUTPUT_BYTES), state.exit_code)
            if deaths.is_troubled(now):
                troubles.append(f"{cause} (it died 5 times within 2 minutes; it is started again every 30 s)")
            if deaths.may_restart(now):
                deaths.note(now)
                log.warning("daemon_restarted", cluster_id=instance.cluster_id, node=node.private_dns, cause=cause)
                await self._daemons.restart(instance, node, name)
        return is_whole, troubles

    async def _note_status(self, node: Node, status: NodeStatus) -> None:
        if status is not node.status:
            seen = {"last_seen_at": time.time()} if status is NodeStatus.RUNNING else {}
            await self._instances.change_node(node.id, status=status.value, **seen)
        elif status is NodeStatus.RUNNING:
            await self._note_seen(node)

    async def _note_seen(self, node: Node) -> None:
        now = time.time()
        if now - (node.last_seen_at or 0) >= _SEEN_EVERY:
            await self._instances.seen([node.id], now)

    async def _report(self, instance: Instance, trouble: str) -> None:
        if self._reported.get(instance.id) != trouble:
            self._reported[instance.id] = trouble
            await self._instances.change(instance.id, message=trouble or None)


async def unless_one_dies(
    ready: Coroutine[Any, Any, None], daemons: Daemons, instance: Instance, nodes: Collection[Node]
) -> None:
    """Wait for `ready`. Raises `ClusterFailure` with the cause once a daemon of the nodes has ended."""
    try:
        async with asyncio.TaskGroup() as group:
            deaths = group.create_task(_watch_deaths(daemons, instance, nodes))
            await ready
            deaths.cancel()
    except BaseExceptionGroup as error:
        raise first_of(error) from None


async def check_alive(daemons: Daemons, instance: Instance, node: Node, only: str | None = None) -> None:
    """Raise `ClusterFailure` with the cause when a daemon of a node has ended; `only` selects one daemon."""
    machine = daemons.machine(instance, node)
    for state in await machine.daemons():
        if not state.is_running and only in (None, state.name):
            output = await machine.tail(state.name, _OUTPUT_BYTES)
            raise ClusterFailure(daemons.cause(state.name, node, output, state.exit_code))


async def _watch_deaths(daemons: Daemons, instance: Instance, nodes: Collection[Node]) -> NoReturn:
    while True:
        for node in nodes:
            await check_alive(daemons, instance, node)
        await asyncio.sleep(_DEATHS_EVERY)


def status_of(node: Node, registered: Collection[str] | None, *, daemons_run: bool) -> NodeStatus:
    """Return a node's status: a coordinator's from its daemons and answers, a worker's from its registration.

    While the coordinator does not answer (`registered` is None), a worker keeps its status.
    """
    if not daemons_run:
        return NodeStatus.LOST
    if node.role is NodeRole.MASTER:
        return NodeStatus.LOST if registered is None else NodeStatus.RUNNING
    if registered is None:
        return node.status
    return NodeStatus.RUNNING if node.private_ip in registered else NodeStatus.LOST
