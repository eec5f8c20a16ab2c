"""Rules for keeping files, and the files of ended commands."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_ENDED = """
INSERT INTO command_files (command_id, account_id, command_type, schedule_id, ended_at)
SELECT c.id, c.account_id, c.command_type,
       (SELECT min(a.schedule_id) FROM actions a WHERE a.command_id = c.id), coalesce(c.end_time, c.created_at)
FROM commands c
WHERE c.status IN ('done', 'error', 'cancelled') AND c.parent_id IS NULL
"""


def upgrade() -> None:
    """Add both tables, with a row for every command that has ended."""
    op.create_table(
        "retention",
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("rules", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_retention_account_id_accounts")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_retention")),
    )
    op.create_table(
        "command_files",
        sa.Column("command_id", _ID, nullable=False),
        sa.Column("account_id", _ID, nullable=False),
        sa.Column("command_type", sa.String(64), nullable=False),
        sa.Column("schedule_id", _ID, nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.Column("result_bytes", sa.BigInteger(), nullable=True),
        sa.Column("log_bytes", sa.BigInteger(), nullable=True),
        sa.Column("is_kept", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("results_deleted_at", sa.Double(), nullable=True),
        sa.Column("results_deleted_by", sa.Text(), nullable=True),
        sa.Column("logs_deleted_at", sa.Double(), nullable=True),
        sa.Column("logs_deleted_by", sa.Text(), nullable=True),
        sa.Column("sweep_since", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["command_id"], ["commands.id"], name=op.f("fk_command_files_command_id_commands"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("command_id", name=op.f("pk_command_files")),
    )
    op.create_index("ix_command_files_ended", "command_files", ["account_id", "ended_at"])
    op.create_index("ix_command_files_type", "command_files", ["account_id", "command_type", "ended_at"])
    _partial("ix_command_files_schedule", ["schedule_id", "ended_at"], "schedule_id IS NOT NULL")
    _partial("ix_command_files_sweep", ["sweep_since"], "sweep_since IS NOT NULL")
    _partial("ix_command_files_unmeasured", ["ended_at"], "result_bytes IS NULL")
    op.execute(_ENDED)


def _partial(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "command_files", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
