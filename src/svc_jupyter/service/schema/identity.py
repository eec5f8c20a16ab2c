"""The table that identifies a database's data folder. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.metadata import metadata

THE_ROW = 1
"""The id of the only row."""

database_identity = sa.Table(
    "database_identity",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", sa.String(32), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
)
