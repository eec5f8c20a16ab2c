"""Addresses of a Presto cluster's nodes."""

from __future__ import annotations

from typing import Final

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.instances import Instance, Node

HTTP_PORT: Final = 8080
"""The same port on every node: each has its own address."""


def http_of(node: Node) -> str:
    """Return the address of a node's server: statements, state and figures."""
    return f"http://{node.private_ip}:{HTTP_PORT}"


def coordinator_http(instance: Instance) -> str:
    """Return the address for statements. Raises `ClusterFailure` before the coordinator exists."""
    if instance.master is None:
        raise ClusterFailure(f"cluster {instance.cluster_id} has no coordinator yet")
    return http_of(instance.master)
