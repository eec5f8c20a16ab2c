"""The outbox's rules: which messages it holds, when and by which replica they are tried, and when they are given up.

Every function is one step inside the caller's transaction, or pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.database import conflict_insert
from svc_jupyter.service.notifications.audience import Recipient
from svc_jupyter.service.notifications.events import Event
from svc_jupyter.service.schema.notifications import outbox

ERROR_LIMIT = 1000
"""Longest stored reason, in characters."""
_FIRST_DELAY_SECONDS = 60.0
_LONGEST_DELAY_SECONDS = 3600.0
_GIVE_UP_SECONDS = 24 * 3600.0
_KEEP_SECONDS = 30 * 24 * 3600.0
_DOUBLINGS_LIMIT = 30  # far beyond the longest delay, and within the range of a float


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A claimed message of the outbox: `attempt` is 1 for the first, `created_at` in Unix seconds."""

    id: int
    event: str
    recipient: str
    created_at: float
    attempt: int
    content: Mapping[str, Any]

    @property
    def delivery_id(self) -> str:
        """Return the message's id at every sending; it includes the time, since a new database starts ids again."""
        return f"{self.id}.{int(self.created_at * 1000)}"


def next_attempt_at(*, created_at: float, attempt: int, now: float, retry_after: float = 0.0) -> float | None:
    """Return when to retry after attempt number `attempt` failed; None when the message is given up.

    One minute after the first, then twice as long each time up to an hour, for a day, and never before the server's
    requested time (`retry_after` seconds from now). A message whose first attempt came after that day (the service was
    down) is not retried.
    """
    delay = _FIRST_DELAY_SECONDS * 2.0 ** min(attempt - 1, _DOUBLINGS_LIMIT)
    again = now + max(min(delay, _LONGEST_DELAY_SECONDS), retry_after)
    return again if again <= created_at + _GIVE_UP_SECONDS else None


def put(connection: sa.Connection, event: Event, recipients: Sequence[Recipient], *, now: float) -> set[ChannelType]:
    """Write a message to each recipient without one for this event; return the media of those written."""
    if not recipients:
        return set()
    written = connection.execute(
        conflict_insert(connection, outbox)
        .values(
            [
                {
                    "event": event.key,
                    "medium": recipient.medium.value,
                    "recipient": recipient.address,
                    "content": event.content,
                    "created_at": now,
                    "next_attempt_at": now,
                }
                for recipient in recipients
            ]
        )
        .on_conflict_do_nothing()
        .returning(outbox.c.medium)
    )
    return {ChannelType(medium) for medium in written.scalars()}


def has_message(connection: sa.Connection, event_key: str) -> bool:
    """Return whether a message about an event was sent, or is waiting."""
    return connection.execute(sa.select(outbox.c.id).where(outbox.c.event == event_key).limit(1)).first() is not None


def claim(
    connection: sa.Connection, medium: ChannelType, *, due_by: float, until: float, apart_from: Collection[str] = ()
) -> QueuedMessage | None:
    """Return the message with the earliest due time, claimed until `until`; None when none was due by `due_by`.

    `apart_from` are recipients to skip now.
    """
    due = (
        sa.select(outbox.c.id)
        .where(
            outbox.c.medium == medium.value, outbox.c.next_attempt_at <= due_by, outbox.c.recipient.not_in(apart_from)
        )
        .order_by(outbox.c.next_attempt_at, outbox.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    row = connection.execute(
        sa.update(outbox)
        .where(outbox.c.id == due.scalar_subquery())
        .values(attempts=outbox.c.attempts + 1, next_attempt_at=until)
        .returning(outbox)
    ).one_or_none()
    if row is None:
        return None
    return QueuedMessage(row.id, row.event, row.recipient, row.created_at, row.attempts, row.content)


def next_time(connection: sa.Connection, medium: ChannelType, *, apart_from: Collection[str] = ()) -> float | None:
    """Return when the next message is due, even one that another replica has claimed; None when none is left."""
    moment: float | None = connection.execute(
        sa.select(sa.func.min(outbox.c.next_attempt_at)).where(
            outbox.c.medium == medium.value, outbox.c.recipient.not_in(apart_from)
        )
    ).scalar()
    return moment


def forget_old(connection: sa.Connection, *, now: float) -> None:
    """Delete messages sent or given up a month ago; their events are not sent again."""
    settled = outbox.c.next_attempt_at.is_(None) & (outbox.c.created_at < now - _KEEP_SECONDS)
    connection.execute(sa.delete(outbox).where(settled))


def mark_sent(connection: sa.Connection, queued: QueuedMessage, *, now: float) -> None:
    """Mark a message as sent, whichever replica claims it now: it must not be sent again."""
    connection.execute(
        sa.update(outbox).where(outbox.c.id == queued.id).values(sent_at=now, next_attempt_at=None, last_error=None)
    )


def mark_failed(connection: sa.Connection, queued: QueuedMessage, *, reason: str, again_at: float | None) -> None:
    """Record why an attempt failed and when the next is due (None: given up), unless a later attempt has begun."""
    connection.execute(
        sa.update(outbox)
        .where(outbox.c.id == queued.id, outbox.c.attempts == queued.attempt, outbox.c.sent_at.is_(None))
        .values(next_attempt_at=again_at, last_error=reason[:ERROR_LIMIT])
    )
