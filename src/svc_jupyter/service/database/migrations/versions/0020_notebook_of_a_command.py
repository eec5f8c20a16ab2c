"""Which notebook's cell submitted a command."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Add the name, which earlier commands do not have."""
    op.add_column("commands", sa.Column("notebook", sa.String(255), nullable=True))
