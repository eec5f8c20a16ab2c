"""Replicas are told from later processes by what no setting of a clock moves; ends are owed to those who fail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Put a boot id and ticks in the place of a time by the wall clock; make the table of owed ends."""
    with op.batch_alter_table("replicas") as table:
        table.add_column(sa.Column("boot_id", sa.String(36), nullable=True))
        table.add_column(sa.Column("start_ticks", sa.BigInteger(), nullable=True))
        table.drop_column("process_started")
    op.create_table(
        "owed_ends",
        sa.Column("command_id", _ID, nullable=False),
        sa.Column("owed_to", sa.String(length=100), nullable=False),
        sa.Column("since", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["command_id"], ["commands.id"], name=op.f("fk_owed_ends_command_id_commands"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("command_id", "owed_to", name=op.f("pk_owed_ends")),
    )
