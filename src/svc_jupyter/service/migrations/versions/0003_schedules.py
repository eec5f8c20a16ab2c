"""Schedules, their actions, the ticker's lease, and the children of composite commands."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Create the tables and columns."""
    op.create_table(
        "service_leases",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("replica_id", sa.String(length=32), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_service_leases")),
    )
    op.create_table(
        "schedules",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("name", sa.String(length=255), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("command_type", sa.String(length=64), nullable=False),
        sa.Column("command", _JSON, nullable=False),
        sa.Column("macros", _JSON, nullable=True),
        sa.Column("label", sa.String(length=255), nullable=True),
        sa.Column("pool", sa.String(length=255), nullable=True),
        sa.Column("tags", sa.String(length=255), nullable=True),
        sa.Column("start_time", sa.Double(), nullable=False),
        sa.Column("end_time", sa.Double(), nullable=True),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=True),
        sa.Column("time_unit", sa.String(length=16), nullable=True),
        sa.Column("cron_expression", sa.String(length=255), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("no_catch_up", sa.Boolean(), nullable=False),
        sa.Column("time_out", sa.Integer(), nullable=False),
        sa.Column("command_timeout", sa.Integer(), nullable=False),
        sa.Column("retry", sa.Integer(), nullable=False),
        sa.Column("retry_delay", sa.Integer(), nullable=False),
        sa.Column("dependency_info", _JSON, nullable=True),
        sa.Column("can_notify", sa.Boolean(), nullable=False),
        sa.Column("is_digest", sa.Boolean(), nullable=False),
        sa.Column("digest_time_hour", sa.Integer(), nullable=False),
        sa.Column("digest_time_minute", sa.Integer(), nullable=False),
        sa.Column("notify_failure", sa.Boolean(), nullable=False),
        sa.Column("notify_success", sa.Boolean(), nullable=False),
        sa.Column("notification_channels", _JSON, nullable=True),
        sa.Column("next_nominal", sa.Double(), nullable=True),
        sa.Column("last_nominal", sa.Double(), nullable=True),
        sa.Column("last_sequence", _ID, server_default="0", nullable=False),
        sa.Column("resumed_at", sa.Double(), nullable=True),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_schedules_account_id_accounts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_schedules_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_schedules_account", "schedules", ["account_id", "id"], unique=False)
    op.create_index("ix_schedules_due", "schedules", ["due_at"], unique=False)
    op.create_table(
        "actions",
        sa.Column("id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("schedule_id", _ID, nullable=False),
        sa.Column("sequence_id", _ID, nullable=False),
        sa.Column("nominal_time", sa.Double(), nullable=False),
        sa.Column("rerun_number", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_rerun_of", _ID, nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("command_id", _ID, nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("dependencies", _JSON, nullable=True),
        sa.Column("look_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_actions_account_id_accounts")),
        sa.ForeignKeyConstraint(["command_id"], ["commands.id"], name=op.f("fk_actions_command_id_commands")),
        sa.ForeignKeyConstraint(
            ["is_rerun_of"], ["actions.id"], name=op.f("fk_actions_is_rerun_of_actions"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedules.id"], name=op.f("fk_actions_schedule_id_schedules"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_actions")),
        sa.UniqueConstraint(
            "schedule_id", "nominal_time", "rerun_number", name=op.f("uq_actions_schedule_id_nominal_time_rerun_number")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_actions_account", "actions", ["account_id", "id"], unique=False)
    op.create_index("ix_actions_command", "actions", ["command_id"], unique=False)
    op.create_index(
        "ix_actions_look",
        "actions",
        ["look_at"],
        unique=False,
        sqlite_where=sa.text("look_at IS NOT NULL"),
        postgresql_where=sa.text("look_at IS NOT NULL"),
    )
    op.create_index(
        "ix_actions_open",
        "actions",
        ["done", "schedule_id"],
        unique=False,
        sqlite_where=sa.text("done = 0"),
        postgresql_where=sa.text("NOT done"),
    )
    op.create_index("ix_actions_newest", "actions", ["schedule_id", "id"], unique=False)
    op.create_index("ix_actions_schedule", "actions", ["schedule_id", "sequence_id"], unique=False)
    op.add_column("commands", sa.Column("parent_id", _ID, nullable=True))
    op.add_column("commands", sa.Column("child_number", sa.Integer(), nullable=True))
    op.create_index("ix_commands_parent", "commands", ["parent_id", "child_number"], unique=True)
