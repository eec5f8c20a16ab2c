"""Who besides its owner answers for what a schedule runs, and each command of it; who was taken out of groups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Give schedules and commands their column, which is empty so far: the owner alone answers."""
    for table in ("schedules", "commands"):
        op.add_column(table, sa.Column("edited_by", _ID, nullable=True))
    op.create_table(
        "removed_members",
        sa.Column("group_id", _ID, nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name=op.f("fk_removed_members_group_id_groups"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_removed_members_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("group_id", "user_id", name=op.f("pk_removed_members")),
    )
