"""Tables of accounts, users, groups, roles, tokens and object policies. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.metadata import BigId, Json, metadata

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

# Members removed by a user with the right to remove; only such a user may add them again.
removed_members = sa.Table(
    "removed_members",
    metadata,
    sa.Column("group_id", BigId, sa.ForeignKey(groups.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id, ondelete="CASCADE"), primary_key=True),
)

roles = sa.Table(
    "roles",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("policies", Json, nullable=False),
    sa.UniqueConstraint("account_id", "name"),
    sqlite_autoincrement=True,
)

group_roles = sa.Table(
    "group_roles",
    metadata,
    sa.Column("group_id", BigId, sa.ForeignKey(groups.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("role_id", BigId, sa.ForeignKey(roles.c.id, ondelete="CASCADE"), primary_key=True, index=True),
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
    # The notebook run that alone has the token; null for a user's own. Without a reference: commands refer to users.
    sa.Column("command_id", BigId, unique=True),
)

# All versions of objects' policies. The newest one of an object is in force.
object_policy_versions = sa.Table(
    "object_policy_versions",
    metadata,
    # Assigned while the account is locked: a reader up to an id has missed none before it.
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("source_type", sa.String(32), nullable=False),
    sa.Column("source_id", sa.BigInteger, nullable=False),
    sa.Column("policy", Json, nullable=False),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("trace_id", sa.String(64)),
    # Whether a newer one has replaced it.
    sa.Column("replaced", sa.Boolean, nullable=False),
    sa.Index("ix_object_policy_versions_object", "source_type", "source_id", "id"),
    # Current versions are few. SQLite uses this index only for queries with the same condition.
    sa.Index(
        "ix_object_policy_versions_in_force",
        "account_id",
        "id",
        sqlite_where=sa.text("replaced = 0"),
        postgresql_where=sa.text("NOT replaced"),
    ),
    sqlite_autoincrement=True,
)
