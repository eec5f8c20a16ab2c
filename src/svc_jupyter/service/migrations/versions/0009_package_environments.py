"""Package environments, what was done to them, and who uses which of their versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Create the tables."""
    _create_environments()
    _create_activities()
    _create_uses()


def _create_environments() -> None:
    table = "package_environments"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("env_type", sa.String(length=32), nullable=False),
        sa.Column("language_version", sa.String(length=32), nullable=False),
        sa.Column("cluster_id", _ID, nullable=True),
        sa.Column("package_id", _ID, nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("deleted_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f(f"fk_{table}_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["cluster_id"], ["clusters.id"], name=op.f(f"fk_{table}_cluster_id_clusters"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f(f"ix_{table}_account_id"), table, ["account_id"], unique=False)
    op.create_index(op.f(f"ix_{table}_cluster_id"), table, ["cluster_id"], unique=False)


def _create_activities() -> None:
    table = "package_activities"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("environment_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("packages", _JSON, nullable=False),
        sa.Column("requested", _JSON, nullable=False),
        sa.Column("lock", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("folder", sa.String(length=64), nullable=True),
        sa.Column("restored_id", _ID, nullable=True),
        sa.Column("cluster_id", _ID, nullable=True),
        sa.Column("replica_id", sa.String(length=32), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["environment_id"],
            ["package_environments.id"],
            name=op.f(f"fk_{table}_environment_id_package_environments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f(f"ix_{table}_environment_id"), table, ["environment_id"], unique=False)
    op.create_index(op.f(f"ix_{table}_status"), table, ["status"], unique=False)


def _create_uses() -> None:
    table = "package_uses"
    op.create_table(
        table,
        sa.Column("id", _ID, nullable=False),
        sa.Column("activity_id", _ID, nullable=False),
        sa.Column("command_id", _ID, nullable=True),
        sa.Column("instance_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(
            ["activity_id"],
            ["package_activities.id"],
            name=op.f(f"fk_{table}_activity_id_package_activities"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
    )
    op.create_index(op.f(f"ix_{table}_activity_id"), table, ["activity_id"], unique=False)
