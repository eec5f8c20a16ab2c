"""What the engine of a cluster type must answer; the life cycle runs a cluster without knowing which type it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from svc_jupyter.api.clusters import ClusterConfiguration, ClusterType
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.samples import Sample

Say = Callable[[str], None]
"""Tells a step, in words for the user."""


class ClusterFailure(Exception):
    """A cluster could not do what was asked; the text is for the user: what, on which node, why, what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ClusterEngine(Protocol):
    """Runs clusters of one type on whatever provider. Every step works from the rows and what really runs, so that it
    can be begun again after the service was killed in its middle.
    """

    cluster_type: ClusterType
    can_scale: bool
    """Whether nodes can be added and removed."""

    def check(self, configuration: ClusterConfiguration) -> None:
        """Raise `Invalid` for what the engine cannot do with a configuration."""
        ...

    async def start(self, instance: Instance, say: Say) -> None:
        """Bring the coordinator and the first workers up; return once all are registered.

        Raises `ClusterFailure` or `ProviderFailure`; the caller then terminates the instance.
        """
        ...

    async def supervise(self, instance: Instance) -> None:
        """Look once: start daemons that died, bring the nodes' rows up to date. Cheap; called about once a second."""
        ...

    async def terminate(self, instance: Instance, say: Say) -> None:
        """End everything and give the machines back; nothing of it survives."""
        ...

    async def is_busy(self, instance: Instance) -> bool:
        """Return whether the engine works for somebody (a running application), so that the cluster is not idle."""
        ...

    async def add_nodes(self, instance: Instance, count: int, say: Say, *, command_id: int) -> None:
        """Add workers for a node command; return once they are RUNNING: all, or none when that fails.

        Goes on with the nodes that the command made before the service was killed. A cancellation takes nothing back:
        the service may only be stopping. Raises `ClusterFailure` or `ProviderFailure`.
        """
        ...

    async def take_back(self, instance: Instance, say: Say, *, command_id: int) -> None:
        """Give back the nodes of an addition that is to end before it is done."""
        ...

    async def removal_order(self, instance: Instance) -> Sequence[Node]:
        """Return the workers that no node command has yet, the best to remove first: the idlest, then youngest."""
        ...

    async def remove_node(self, instance: Instance, node: Node, say: Say) -> None:
        """Decommission a worker gracefully; return once it is gone, also when it was gone before.

        A cancellation puts nothing back: the service may only be stopping.
        """
        ...

    async def put_back(self, instance: Instance, node: Node, say: Say) -> None:
        """Let a worker work again whose removal is to end before it is gone."""
        ...

    async def health(self, instance: Instance) -> Sample:
        """Return a live look at the cluster; what does not answer within 2 s is DOWN."""
        ...
