"""When the runs of a schedule are reported as late, or as longer than usual."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add both settings, without a value."""
    op.add_column("schedules", sa.Column("due_by", sa.String(5), nullable=True))
    op.add_column("schedules", sa.Column("longer_than", sa.Double(), nullable=True))
