"""Tables of the rules for keeping files, and of the files of ended commands. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.metadata import BigId, Json, metadata

retention = sa.Table(
    "retention",
    metadata,
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), primary_key=True),
    # RetentionRules.
    sa.Column("rules", Json, nullable=False),
)

# A row per ended or pinned command, except children: their files belong to their composite's.
command_files = sa.Table(
    "command_files",
    metadata,
    sa.Column("command_id", BigId, sa.ForeignKey(commands.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("account_id", BigId, nullable=False),
    sa.Column("command_type", sa.String(64), nullable=False),
    sa.Column("schedule_id", BigId),
    # Null until the command has ended.
    sa.Column("ended_at", sa.Double),
    # Null until measured.
    sa.Column("result_bytes", sa.BigInteger),
    sa.Column("log_bytes", sa.BigInteger),
    sa.Column("is_kept", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("results_deleted_at", sa.Double),
    sa.Column("results_deleted_by", sa.Text),
    sa.Column("logs_deleted_at", sa.Double),
    sa.Column("logs_deleted_by", sa.Text),
    # Set with the marks above, before any file goes; null once all are gone.
    sa.Column("sweep_since", sa.Double),
    sa.Index("ix_command_files_ended", "account_id", "ended_at"),
    sa.Index("ix_command_files_type", "account_id", "command_type", "ended_at"),
    sa.Index(
        "ix_command_files_schedule",
        "schedule_id",
        "ended_at",
        sqlite_where=sa.text("schedule_id IS NOT NULL"),
        postgresql_where=sa.text("schedule_id IS NOT NULL"),
    ),
    sa.Index(
        "ix_command_files_sweep",
        "sweep_since",
        sqlite_where=sa.text("sweep_since IS NOT NULL"),
        postgresql_where=sa.text("sweep_since IS NOT NULL"),
    ),
    sa.Index(
        "ix_command_files_unmeasured",
        "ended_at",
        sqlite_where=sa.text("result_bytes IS NULL"),
        postgresql_where=sa.text("result_bytes IS NULL"),
    ),
)
