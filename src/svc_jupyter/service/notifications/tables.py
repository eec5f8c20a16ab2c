"""The outbox of notifications: written in the transaction that ends a command, sent afterwards. Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.commands.tables import commands
from svc_jupyter.service.database import BigId, metadata

outbox = sa.Table(
    "notification_outbox",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("command_id", BigId, sa.ForeignKey(commands.c.id, ondelete="CASCADE"), nullable=False),
    sa.Column("recipient", sa.String(254), nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    # Counted when an attempt begins, so that it also tells one claim from the next.
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # Whoever tries it first moves this past the longest time an attempt may take: until then nobody else tries.
    # Null: sent or given up.
    sa.Column("next_attempt_at", sa.Double, index=True),
    sa.Column("sent_at", sa.Double),
    sa.Column("last_error", sa.Text),
    sa.UniqueConstraint("command_id", "recipient"),
    # The id is part of the Message-ID and must never name a second message.
    sqlite_autoincrement=True,
)
