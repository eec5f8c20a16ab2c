"""Nodes as rows, for tests of pure functions."""

from __future__ import annotations

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.instances import Manner, Node


def worker(number: int, status: NodeStatus = NodeStatus.RUNNING, leaving: Manner | None = None) -> Node:
    """Return worker `number`, with the address that its number gives it; the higher, the younger."""
    name = f"ip-127-1-1-{10 + number}"
    return Node(
        id=number,
        role=NodeRole.WORKER,
        hostname=name,
        private_ip=f"127.1.1.{10 + number}",
        private_dns=name,
        instance_type="local",
        status=status,
        created_at=float(number),
        up_at=None,
        last_seen_at=None,
        details={},
        leaving=leaving,
    )
