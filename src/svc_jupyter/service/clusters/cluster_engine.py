"""What an engine of a cluster type has; the life cycle runs a cluster without knowing its type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.ground.errors import Failure


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement of a cluster.

    `metrics` is the health record's without `captured_at`. `values` are numbers by the
    names of `metrics.METRICS`, without those that could not be read. `pages` are the addresses of the engines' own
    pages that answer, by their names.
    """

    metrics: Mapping[str, Any]
    values: Mapping[str, float] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)


Say = Callable[[str], None]
"""Reports a step as text for the user."""


def quietly(_line: str) -> None:
    """Discard a step that no caller waits for."""


class ClusterFailure(Failure):
    """A cluster could not do what was asked; the message tells the user what, on which node, why, and what to do."""


def coordinator_of(instance: Instance) -> Node:
    """Return the coordinator. Raises `ClusterFailure` before it is made."""
    if instance.master is None:
        raise ClusterFailure(f"cluster {instance.cluster_id} has no coordinator yet")
    return instance.master


class ClusterEngine(ABC):
    """Runs clusters of one type on any provider. Every step works from the rows and the actual processes, so that it
    can be repeated after the service was killed.
    """

    cluster_type: ClusterType
    can_scale = False
    """Whether nodes can be added and removed; if not, the methods for that have nothing to do."""
    of_others: ClusterEngine | None = None
    """What connects to clusters of this type that others run; None where that is not possible."""

    @abstractmethod
    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for settings that would break the cluster's own wiring."""

    @abstractmethod
    async def start(self, instance: Instance, say: Say) -> None:
        """Start the coordinator and the first workers; return once all are registered.

        Raises `ClusterFailure` or `ProviderFailure`; the caller then terminates the instance.
        """

    @abstractmethod
    async def supervise(self, instance: Instance) -> None:
        """Restart daemons that died and update the nodes' rows. Cheap; called about once a second."""

    @abstractmethod
    async def terminate(self, instance: Instance, say: Say) -> None:
        """End all processes and release the machines."""

    @abstractmethod
    async def is_busy(self, instance: Instance) -> bool:
        """Return whether the engine runs any work; without an answer it counts as busy."""

    @abstractmethod
    async def health(self, instance: Instance) -> Sample:
        """Return a live measurement of the cluster; a part without an answer within 2 s is DOWN."""

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:  # noqa: ARG002
        """Add workers for a node command; return once all are RUNNING. After a failure, none is left.

        Continues with the nodes that the command made before the service was killed. A cancellation removes nothing:
        the service may only be stopping. Raises `ClusterFailure` or `ProviderFailure`.
        """
        raise self._refusal()

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:  # noqa: ARG002
        """Remove the nodes of an addition that is ended early."""
        return

    async def removal_order(self, instance: Instance) -> Sequence[Node]:  # noqa: ARG002
        """Return the workers without a node command in the order of removal: the idlest first, then the youngest."""
        return ()

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:  # noqa: ARG002
        """Decommission a worker gracefully; return once it is gone, also when it already was.

        A cancellation restores nothing: the service may only be stopping.
        """
        raise self._refusal()

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:  # noqa: ARG002
        """Return a worker to service when its removal is ended early."""
        return

    def _refusal(self) -> ClusterFailure:
        return ClusterFailure(f"Node changes are not supported for {self.cluster_type.words} clusters")


def engine_of(
    engines: Mapping[ClusterType, ClusterEngine], configuration: ClusterConfiguration
) -> ClusterEngine | None:
    """Return the engine of a cluster; None when this version has none for it."""
    engine = engines.get(configuration.cluster_type)
    return engine.of_others if engine is not None and configuration.is_external else engine


@dataclass(frozen=True, slots=True)
class ServiceLook:
    """The state of a service. `heap_percent` is 0..100, None where it could not be read."""

    is_alive: bool
    """Whether its process runs."""
    is_responsive: bool
    """Whether it answered a real question within the time limit of a check."""
    heap_percent: float | None = None


class ServiceProbe(Protocol):
    """Checks a service of an account or a cluster."""

    async def look(self, instance: Instance) -> ServiceLook | None:
        """Return the state of the service that the instance uses; None when it has not been needed and so not started.

        Starts nothing. Called about once a second; a check that takes longer than 2 s counts as no answer.
        """
        ...
