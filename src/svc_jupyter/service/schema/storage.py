"""The account's stored storage credentials."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts
from svc_jupyter.service.schema.metadata import BigId, metadata

account_storage = sa.Table(
    "account_storage",
    metadata,
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), primary_key=True),
    sa.Column("url", sa.String(2048), nullable=False),
    sa.Column("sealed_access_key", sa.Text),
    sa.Column("sealed_secret_key", sa.Text),
    sa.Column("region", sa.String(255)),
    sa.Column("endpoint", sa.String(2048)),
)
