"""Which entry of YARN's list is which node of a cluster.

A NodeManager registers with the name that its own host finds for its address, and no setting changes that: the address
itself where the host finds no name, else a name that need not be the inventory's, nor known to the service. So the
NodeManager is asked, at the node's address, as what it has registered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.daemon_http import unless_silent
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnNode, YarnRest


async def known_nodes(
    yarn: YarnRest, instance: Instance, nodes: Iterable[Node] | None = None
) -> Mapping[str, YarnNode] | None:
    """Return the nodes that YARN knows, by the address of the cluster's node; None when it does not answer.

    `nodes` are those that matter; by default the instance's workers.
    """
    addresses = Addresses.of(instance)
    listed = await unless_silent(yarn.nodes(addresses.resource_manager_http))
    if listed is None:
        return None
    unmatched = [node for node in (instance.workers if nodes is None else nodes) if node.private_ip not in listed]
    names = await asyncio.gather(*(_name(yarn, addresses, node, listed) for node in unmatched))
    of_names = {node.private_ip: listed[name] for node, name in zip(unmatched, names, strict=True) if name is not None}
    return {**listed, **of_names}


async def running_containers(yarn: YarnRest, instance: Instance) -> Mapping[str, int]:
    """Return how many containers run on each worker, by the worker's name, as far as YARN has it and answers."""
    known = await known_nodes(yarn, instance) or {}
    found = ((node.private_dns, known.get(node.private_ip)) for node in instance.workers)
    return {name: node.containers for name, node in found if node is not None and node.is_active}


async def registered_names(yarn: YarnRest, instance: Instance, nodes: Sequence[Node]) -> Mapping[int, str]:
    """Return the names, by the nodes' ids, with which YARN knows nodes otherwise than by their address."""
    addresses = Addresses.of(instance)
    names = await asyncio.gather(*(yarn.registered_name(addresses.node_manager_http(node)) for node in nodes))
    return {node.id: name for node, name in zip(nodes, names, strict=True) if name not in (None, node.private_ip)}


async def _name(yarn: YarnRest, addresses: Addresses, node: Node, listed: Mapping[str, YarnNode]) -> str | None:
    """Return the listed name of a node that YARN does not list by its address; None where it lists none."""
    name = await yarn.registered_name(addresses.node_manager_http(node), among=listed)
    if name is None and node.private_dns in listed:
        return node.private_dns  # its NodeManager does not answer, and was never asked by this service
    return name
