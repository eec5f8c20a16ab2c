"""The outbox of notifications."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the outbox."""
    op.create_table(
        "notification_outbox",
        sa.Column("id", _ID, nullable=False),
        sa.Column("command_id", _ID, nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", sa.Double(), nullable=True),
        sa.Column("sent_at", sa.Double(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["command_id"],
            ["commands.id"],
            name=op.f("fk_notification_outbox_command_id_commands"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notification_outbox")),
        sa.UniqueConstraint("command_id", "recipient", name=op.f("uq_notification_outbox_command_id_recipient")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_notification_outbox_next_attempt_at"), "notification_outbox", ["next_attempt_at"], unique=False
    )
