"""Tables of notifications: channels, the outbox, and events that wait for a digest. Times are Unix seconds."""

from __future__ import annotations

import sqlalchemy as sa

from svc_jupyter.service.schema.access import accounts, users
from svc_jupyter.service.schema.metadata import BigId, Json, metadata
from svc_jupyter.service.schema.schedules import schedules

channels = sa.Table(
    "notification_channels",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("account_id", BigId, sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("user_id", BigId, sa.ForeignKey(users.c.id), nullable=False),
    sa.Column("name", sa.String(255), nullable=False),
    sa.Column("type", sa.String(16), nullable=False),
    # The addresses, or the public part of a URL; the URL itself is sealed.
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("sealed_url", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.UniqueConstraint("account_id", "name"),
    # Schedules name channels by their ids, which must never be reused.
    sqlite_autoincrement=True,
)

outbox = sa.Table(
    "notification_outbox",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    # The subject, such as `command:12`, `action:33`, `digest:5:2026-11-21T00:00Z`: sent once to each recipient.
    sa.Column("event", sa.String(100), nullable=False),
    sa.Column("medium", sa.String(16), nullable=False),
    # An e-mail address, or the id of a webhook channel.
    sa.Column("recipient", sa.String(254), nullable=False),
    sa.Column("content", Json, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    # Counted when an attempt begins, so that it also distinguishes claims.
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # A claim moves this past the longest time of an attempt, so that no other replica tries meanwhile.
    # Null: sent or given up.
    sa.Column("next_attempt_at", sa.Double),
    sa.Column("sent_at", sa.Double),
    sa.Column("last_error", sa.Text),
    sa.UniqueConstraint("event", "medium", "recipient"),
    sa.Index("ix_notification_outbox_due", "medium", "next_attempt_at"),
    # The id is part of the Message-ID and must never be reused.
    sqlite_autoincrement=True,
)

digest_entries = sa.Table(
    "notification_digest_entries",
    metadata,
    sa.Column("id", BigId, primary_key=True),
    sa.Column("schedule_id", BigId, sa.ForeignKey(schedules.c.id, ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("event", sa.String(100), nullable=False, unique=True),
    sa.Column("outcome", sa.String(16), nullable=False),
    sa.Column("content", Json, nullable=False),
    sa.Column("ended_at", sa.Double, nullable=False),
    # The time of the digest that will contain it.
    sa.Column("due_at", sa.Double, nullable=False, index=True),
)
