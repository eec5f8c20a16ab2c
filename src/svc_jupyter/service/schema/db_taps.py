"""The stored connections to databases."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.metadata import BigId, metadata

db_taps = sa.Table(
    "db_taps",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("db_type", sa.String(32), nullable=False),
    sa.Column("db_host", sa.String(255)),
    sa.Column("port", sa.Integer),
    sa.Column("db_name", sa.String(4096)),
    sa.Column("db_user", sa.String(255)),
    sa.Column("sealed_password", sa.Text),
    sa.Column("sealed_url", sa.Text),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.UniqueConstraint("account_id", "name"),
)
