"""The table of the audit log. Rows are added and, when expired, deleted; the database refuses other changes."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.metadata import BigId, Json, metadata

audit_entries = sa.Table(
    "audit_entries",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False, index=True),
    # Values of that moment: no reference to rows that may change or be deleted.
    sa.Column("user_id", BigId, nullable=False),
    sa.Column("email", sa.String(254), nullable=False),
    # Null for work of the service itself.
    sa.Column("token_id", BigId),
    sa.Column("address", sa.String(64)),
    sa.Column("trace_id", sa.String(64)),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("resource", sa.String(32), nullable=False),
    sa.Column("object_id", sa.Text),
    sa.Column("detail", Json),
    sa.Index("ix_audit_entries_account", "account_id", "id"),
    sa.Index("ix_audit_entries_object", "account_id", "resource", "object_id", "id"),
    sa.Index("ix_audit_entries_user", "account_id", "user_id", "id"),
    sqlite_autoincrement=True,
)
