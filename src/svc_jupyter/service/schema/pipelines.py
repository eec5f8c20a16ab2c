"""The table of streaming pipelines. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.metadata import BigId, Json, metadata

pipelines = sa.Table(
    "pipelines",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False, index=True),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("description", sa.Text),
    # draft, active or archive.
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("create_type", sa.String(16), nullable=False),
    # The `Definition` that it runs.
    sa.Column("definition", Json, nullable=False),
    sa.Column("cluster_label", sa.String(255)),
    # Ids of the channels that get messages about failures.
    sa.Column("notification_channels", Json, nullable=False),
    # The number of starts.
    sa.Column("runs", sa.Integer, nullable=False, server_default="0"),
    # The command of its last run.
    sa.Column("command_id", BigId, index=True),
    # The last request to its last run, or how it ended; null before the first.
    sa.Column("instance_status", sa.String(16)),
    # Why the last run failed.
    sa.Column("message", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("updated_at", sa.Double, nullable=False),
    # Policies and the audit log refer to its id.
    sqlite_autoincrement=True,
)
