"""What makes a database and its data folder known to each other, and a key in the name of each command's folder."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Create the table, empty, and add the column; folders of commands that are there keep their names."""
    op.create_table(
        "database_identity",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_database_identity")),
    )
    op.add_column("commands", sa.Column("folder_key", sa.String(length=16), nullable=True))
