"""Clusters, and the cluster that a command needs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Create the tables; give commands their column."""
    _create_clusters()
    _create_labels()
    _create_instances()
    _create_nodes()
    with op.batch_alter_table("commands") as batch:
        batch.add_column(sa.Column("cluster_id", _ID, nullable=True))
        batch.add_column(sa.Column("outputs", _JSON, nullable=True))


def _create_clusters() -> None:
    op.create_table(
        "clusters",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("configuration", _JSON, nullable=False),
        sa.Column("secrets", sa.Text(), nullable=True),
        sa.Column("state", sa.String(length=16), server_default="DOWN", nullable=False),
        sa.Column("instance_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_clusters_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_clusters_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clusters")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_clusters_account_id"), "clusters", ["account_id"], unique=False)


def _create_labels() -> None:
    op.create_table(
        "cluster_labels",
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("label", sa.String(length=255), nullable=False),
        sa.Column("cluster_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_cluster_labels_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_labels_cluster_id_clusters"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "label", name=op.f("pk_cluster_labels")),
    )
    op.create_index(op.f("ix_cluster_labels_cluster_id"), "cluster_labels", ["cluster_id"], unique=False)


def _create_instances() -> None:
    op.create_table(
        "cluster_instances",
        sa.Column("id", _ID, nullable=False),
        sa.Column("cluster_id", _ID, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("configuration", _JSON, nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=True),
        sa.Column("replica_id", sa.String(length=32), nullable=True),
        sa.Column("details", _JSON, nullable=True),
        sa.Column("start_at", sa.Double(), nullable=False),
        sa.Column("up_at", sa.Double(), nullable=True),
        sa.Column("down_at", sa.Double(), nullable=True),
        sa.Column("last_used_at", sa.Double(), nullable=False),
        sa.Column("terminate_reason", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f("fk_cluster_instances_cluster_id_clusters"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster_instances")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_cluster_instances_cluster_id"), "cluster_instances", ["cluster_id"], unique=False)
    op.create_index(op.f("ix_cluster_instances_state"), "cluster_instances", ["state"], unique=False)


def _create_nodes() -> None:
    op.create_table(
        "cluster_nodes",
        sa.Column("id", _ID, nullable=False),
        sa.Column("instance_id", _ID, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("hostname", sa.String(length=255), nullable=False),
        sa.Column("private_ip", sa.String(length=64), nullable=False),
        sa.Column("private_dns", sa.String(length=255), nullable=False),
        sa.Column("instance_type", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("up_at", sa.Double(), nullable=True),
        sa.Column("last_seen_at", sa.Double(), nullable=True),
        sa.Column("details", _JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["instance_id"],
            ["cluster_instances.id"],
            name=op.f("fk_cluster_nodes_instance_id_cluster_instances"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cluster_nodes")),
        sa.UniqueConstraint("instance_id", "private_dns", name=op.f("uq_cluster_nodes_instance_id_private_dns")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_cluster_nodes_instance_id"), "cluster_nodes", ["instance_id"], unique=False)
