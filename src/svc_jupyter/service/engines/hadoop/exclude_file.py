"""YARN's list of nodes that are to go, and making the ResourceManager read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.clusters.node_claims import LEAVING, Manner
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.engines.hadoop.addresses import Addresses
from svc_jupyter.service.engines.hadoop.yarn_admin import RefreshMode, refresh_nodes

PATIENCE_SECONDS: Final = 30 * 86_400
"""How long YARN waits for what needs a leaving node; then it would end it. Longer than any job: a removal is ended by
its command's own timeout (36 hours unless the operator says otherwise), which puts the node back and loses nothing."""


def exclude_file(nodes: Iterable[Node]) -> str:
    """Return the text of the file that names these nodes, each with the seconds that it may take to leave."""
    entries = "".join(
        f"  <host><name>{escape(node.private_ip)}</name>"
        f"<timeout>{0 if node.details.get(LEAVING) == Manner.AT_ONCE else PATIENCE_SECONDS}</timeout></host>\n"
        for node in nodes
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<hosts>\n{entries}</hosts>\n'


def nodes_that_go(instance: Instance) -> list[Node]:
    """Return the nodes that are to go, by their rows."""
    return [node for node in instance.workers if LEAVING in node.details]


async def apply_exclude_file(provider: Provider, instance: Instance) -> None:
    """Write the file as the rows have it, and make YARN follow: what is no longer in it works again.

    Always graceful: a normal refresh would take nodes away that are still waited for. Raises `AdminCallFailed` and
    `ProviderFailure`.
    """
    master = instance.master
    if master is None:
        return
    addresses = Addresses.of(instance)
    text = exclude_file(nodes_that_go(instance)).encode()
    await provider.machine(instance, master).write({str(addresses.exclude_file): text})
    await refresh_nodes(addresses.resource_manager_admin, RefreshMode.GRACEFUL, PATIENCE_SECONDS)
