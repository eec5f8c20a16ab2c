"""Tables of clusters, their labels, their instances and nodes. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.metadata import BigId, Json, metadata

clusters = sa.Table(
    "clusters",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False, index=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    # A ClusterConfiguration without labels and secrets.
    sa.Column("configuration", Json, nullable=False),
    # The secrets, sealed as one JSON text.
    sa.Column("secrets", sa.Text),
    sa.Column("state", sa.String(16), nullable=False, server_default="DOWN"),
    # The running or last instance.
    sa.Column("instance_id", BigId),
    sqlite_autoincrement=True,
)

cluster_labels = sa.Table(
    "cluster_labels",
    metadata,
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), primary_key=True),
    sa.Column("label", sa.String(255), primary_key=True),
    sa.Column("cluster_id", BigId, sa.ForeignKey(clusters.c.id, ondelete="CASCADE"), nullable=False, index=True),
    # The order in the record.
    sa.Column("position", sa.Integer, nullable=False),
)

cluster_instances = sa.Table(
    "cluster_instances",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("cluster_id", BigId, sa.ForeignKey(clusters.c.id, ondelete="CASCADE"), nullable=False, index=True),
    # A ClusterState; DOWN after its end.
    sa.Column("state", sa.String(16), nullable=False, index=True),
    # The configuration that it was started with, without secrets.
    sa.Column("configuration", Json, nullable=False),
    sa.Column("provider", sa.String(32), nullable=False),
    # The host whose replicas can drive it; null where any can.
    sa.Column("host", sa.String(255)),
    # The replica that drives it; when the replica is gone, another one takes it.
    sa.Column("replica_id", sa.String(32)),
    # Data of the provider and the engine: address block, ports …
    sa.Column("details", Json),
    sa.Column("start_at", sa.Double, nullable=False),
    sa.Column("up_at", sa.Double),
    sa.Column("down_at", sa.Double),
    sa.Column("last_used_at", sa.Double, nullable=False),
    sa.Column("terminate_reason", sa.Text),
    # The current step, for those who wait.
    sa.Column("message", sa.Text),
    sqlite_autoincrement=True,
)

cluster_nodes = sa.Table(
    "cluster_nodes",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column(
        "instance_id", BigId, sa.ForeignKey(cluster_instances.c.id, ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("role", sa.String(16), nullable=False),
    sa.Column("hostname", sa.String(255), nullable=False),
    sa.Column("private_ip", sa.String(64), nullable=False),
    sa.Column("private_dns", sa.String(255), nullable=False),
    sa.Column("instance_type", sa.String(255), nullable=False),
    sa.Column("status", sa.String(32), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("up_at", sa.Double),
    sa.Column("last_seen_at", sa.Double),
    # Data of the provider and the engine; the node command that adds or removes it.
    sa.Column("details", Json),
    sa.UniqueConstraint("instance_id", "private_dns"),
    sqlite_autoincrement=True,
)
