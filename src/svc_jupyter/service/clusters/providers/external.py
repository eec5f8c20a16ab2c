"""The provider `external`: the machines of others, on which the service starts and ends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.instances import Instance, NewNode, Node
from svc_jupyter.service.clusters.providers.provider import ProviderFailure


class ExternalProvider:
    """Has no machines to give; see `Provider`. Any replica can use such a cluster."""

    name = "external"
    is_bound_to_host = False

    async def make(self, instance: Instance, role: NodeRole, count: int) -> Sequence[NewNode]:  # noqa: ARG002
        """Raise `ProviderFailure`."""
        raise _refusal(instance)

    def machine(self, instance: Instance, node: Node) -> NoReturn:  # noqa: ARG002
        """Raise `ProviderFailure`."""
        raise _refusal(instance)

    async def release(self, instance: Instance, nodes: Sequence[Node]) -> None:
        """Do nothing: no machine was made."""

    async def sweep(self, instance: Instance) -> None:
        """Do nothing: nothing of an instance runs anywhere."""


def _refusal(instance: Instance) -> ProviderFailure:
    return ProviderFailure(f"cluster {instance.cluster_id} is external: its machines belong to those who run it")
