"""The state of a cluster with its nodes, as a record."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.clusters.cluster_rows import ClusterRow
from svc_jupyter.service.clusters.instances import Instances, Node
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.schema.clusters import cluster_instances


def state_record(cluster: ClusterRow, instances: Instances, connection: sa.Connection) -> dict[str, Any]:
    """Return the state of a cluster's running or last instance."""
    record: dict[str, Any] = {
        "state": cluster.state.value,
        "cluster_id": cluster.id,
        "config_id": cluster.id,
        "cluster_inst_id": cluster.instance_id,
        "start_at": None,
        "up_at": None,
        "down_at": None,
        "terminate_reason": None,
        "message": None,
        "nodes": [],
    }
    if cluster.instance_id is None:
        return record
    row = (
        connection.execute(sa.select(cluster_instances).where(cluster_instances.c.id == cluster.instance_id))
        .mappings()
        .one()
    )
    record |= {key: _shown_time(row[key]) for key in ("start_at", "up_at", "down_at")}
    record |= {key: row[key] for key in ("terminate_reason", "message")}
    instance = instances.select(connection, instance_id=cluster.instance_id)
    nodes = sorted(instance.nodes, key=lambda node: (node.role is not NodeRole.MASTER, node.id))
    record["nodes"] = [_node(node) for node in nodes]
    return record


def _node(node: Node) -> dict[str, Any]:
    return {
        "role": node.role.value,
        "hostname": node.hostname,
        "private_ip": node.private_ip,
        "private_dns": node.private_dns,
        "instance_type": node.instance_type,
        "is_spot_instance": False,
        "status": node.status.value,
        "up_time": _shown_time(node.up_at),
        "last_seen_time": _shown_time(node.last_seen_at),
    }


def _shown_time(seconds: float | None) -> str | None:
    return None if seconds is None else iso_time(seconds)
