"""Tokens of notebook runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the command whose run alone has a token."""
    with op.batch_alter_table("tokens") as tokens:
        tokens.add_column(sa.Column("command_id", _ID, nullable=True))
        tokens.create_unique_constraint(op.f("uq_tokens_command_id"), ["command_id"])
