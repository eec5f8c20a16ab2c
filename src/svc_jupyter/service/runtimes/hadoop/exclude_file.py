"""YARN's list of leaving nodes, and the call that makes the ResourceManager read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

from svc_jupyter.service.clusters.instances import Instance, Manner, Node
from svc_jupyter.service.clusters.providers.provider import Provider
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.yarn_admin import RefreshMode, refresh_nodes

PATIENCE_SECONDS: Final = 30 * 86_400
"""How long YARN waits for work on a leaving node before it ends that work. Longer than any job: the removal command's
own
timeout (36 hours unless the operator changes it) ends a removal first, which puts the node back and loses nothing.
"""


def exclude_file(nodes: Iterable[Node]) -> str:
    """Return the file's text, which names these nodes, each with the seconds it may take to leave."""
    entries = "".join(
        f"  <host><name>{escape(node.private_ip)}</name>"
        f"<timeout>{0 if node.leaving is Manner.AT_ONCE else PATIENCE_SECONDS}</timeout></host>\n"
        for node in nodes
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<hosts>\n{entries}</hosts>\n'


def nodes_that_go(instance: Instance) -> list[Node]:
    """Return the leaving nodes among these rows."""
    return [node for node in instance.workers if node.leaving is not None]


async def apply_exclude_file(provider: Provider, instance: Instance) -> None:
    """Write the file from the rows, and make YARN apply it: a node no longer in it works again.

    Always graceful: a normal refresh would remove nodes that still have work. Raises `AdminCallFailed` and
    `ProviderFailure`.
    """
    master = instance.master
    if master is None:
        return
    addresses = Addresses.of(instance)
    text = exclude_file(nodes_that_go(instance)).encode()
    await provider.machine(instance, master).write({str(addresses.exclude_file): text})
    await refresh_nodes(addresses.resource_manager_admin, RefreshMode.GRACEFUL, PATIENCE_SECONDS)
