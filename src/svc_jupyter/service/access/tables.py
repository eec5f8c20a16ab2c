"""Tables of accounts, users, groups and tokens."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.database import BigId, Json, metadata

accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("features", Json, nullable=False),
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("email", sa.String(254), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.UniqueConstraint("account_id", "email"),
)

groups = sa.Table(
    "groups",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.UniqueConstraint("account_id", "name"),
)

memberships = sa.Table(
    "memberships",
    metadata,
    sa.Column("group_id", BigId, sa.ForeignKey(groups.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True, index=True),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id, ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("name", sa.String(255), nullable=False),
    # SHA-256 of the token: 256 random bits need no slow hash.
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("expires_at", sa.Double),
)
