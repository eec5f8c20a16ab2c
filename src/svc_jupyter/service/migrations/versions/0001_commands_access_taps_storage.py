"""Accounts, users, tokens, commands, DB taps and storage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "accounts",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("features", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
    )
    op.create_table(
        "replicas",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("process_started", sa.Double(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_replicas")),
    )
    op.create_table(
        "account_storage",
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("sealed_access_key", sa.Text(), nullable=True),
        sa.Column("sealed_secret_key", sa.Text(), nullable=True),
        sa.Column("region", sa.String(length=255), nullable=True),
        sa.Column("endpoint", sa.String(length=2048), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_account_storage_account_id_accounts")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_account_storage")),
    )
    op.create_table(
        "groups",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_groups_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_groups")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_groups_account_id_name")),
    )
    op.create_table(
        "users",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_users_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("account_id", "email", name=op.f("uq_users_account_id_email")),
    )
    op.create_table(
        "commands",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("command_type", sa.String(length=64), nullable=False),
        sa.Column("command_source", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("command", _JSON, nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("start_time", sa.Double(), nullable=True),
        sa.Column("end_time", sa.Double(), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("tags", sa.String(length=255), nullable=True),
        sa.Column("label", sa.String(length=255), nullable=True),
        sa.Column("pool", sa.String(length=255), nullable=True),
        sa.Column("timeout", sa.BigInteger(), nullable=True),
        sa.Column("retry", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retry_delay", sa.Integer(), nullable=True),
        sa.Column("can_notify", sa.Boolean(), nullable=False),
        sa.Column("resolved_macros", _JSON, nullable=True),
        sa.Column("progress", sa.Integer(), server_default="0", nullable=False),
        sa.Column("result_rows", sa.BigInteger(), nullable=True),
        sa.Column("pid", sa.Integer(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("attempts", _JSON, nullable=True),
        sa.Column("next_attempt_at", sa.Double(), nullable=True),
        sa.Column("replica_id", sa.String(length=32), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("result", _JSON, nullable=True),
        sa.Column("nominal_time", sa.String(length=32), nullable=True),
        sa.Column("sequence_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_commands_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_commands_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commands")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_commands_account", "commands", ["account_id", "id"], unique=False)
    op.create_index("ix_commands_replica", "commands", ["replica_id", "status"], unique=False)
    op.create_index("ix_commands_status", "commands", ["status", "account_id", "id"], unique=False)
    op.create_index("ix_commands_user", "commands", ["user_id", "id"], unique=False)
    op.create_table(
        "db_taps",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("db_type", sa.String(length=32), nullable=False),
        sa.Column("db_host", sa.String(length=255), nullable=True),
        sa.Column("port", sa.Integer(), nullable=True),
        sa.Column("db_name", sa.String(length=4096), nullable=True),
        sa.Column("db_user", sa.String(length=255), nullable=True),
        sa.Column("sealed_password", sa.Text(), nullable=True),
        sa.Column("sealed_url", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_db_taps_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_db_taps_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_db_taps")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_db_taps_account_id_name")),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_idempotency_keys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "memberships",
        sa.Column("group_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_memberships_group_id_groups"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_memberships_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "user_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_user_id"), "memberships", ["user_id"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_tokens_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_user_id"), "tokens", ["user_id"], unique=False)
    # ### end Alembic commands ###
