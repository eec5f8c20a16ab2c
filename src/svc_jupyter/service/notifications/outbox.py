"""The outbox's rules: what is written, who tries it when, and when it is given up.

Every function is one step inside a transaction of the caller's, or pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.service.access.tables import users
from svc_jupyter.service.commands.tables import commands
from svc_jupyter.service.database import conflict_insert
from svc_jupyter.service.notifications.tables import outbox

ERROR_LIMIT = 1000
"""Longest stored reason, in characters."""
_FIRST_DELAY_SECONDS = 60.0
_LONGEST_DELAY_SECONDS = 3600.0
_GIVE_UP_SECONDS = 24 * 3600.0
_DOUBLINGS_LIMIT = 30  # far beyond the longest delay, and short of what a float cannot hold


@dataclass(frozen=True, slots=True)
class Letter:
    """A claimed message: `attempt` is 1 for the first, `created_at` Unix seconds, `command` the row it tells of."""

    id: int
    command_id: int
    recipient: str
    created_at: float
    attempt: int
    command: Mapping[str, Any]


def next_attempt_at(*, created_at: float, attempt: int, now: float) -> float | None:
    """Return when to try again after attempt number `attempt` failed; None when the message is to be given up.

    One minute after the first, then twice as long each time up to an hour, for a day. A message that first could be
    tried later than that (the service was down) has had its one attempt.
    """
    delay = _FIRST_DELAY_SECONDS * 2.0 ** min(attempt - 1, _DOUBLINGS_LIMIT)
    again = now + min(delay, _LONGEST_DELAY_SECONDS)
    return again if again <= created_at + _GIVE_UP_SECONDS else None


def put(connection: sa.Connection, *, command_id: int, user_id: int, now: float) -> bool:
    """Write a message to the command's user; return whether one was written.

    None is for a disabled user, who may not know of the command any more, nor a second one for the same command.
    """
    recipient = sa.select(
        sa.literal(command_id, sa.BigInteger), users.c.email, sa.literal(now, sa.Double), sa.literal(now, sa.Double)
    ).where(users.c.id == user_id, users.c.enabled)
    written = connection.execute(
        conflict_insert(connection, outbox)
        .from_select(["command_id", "recipient", "created_at", "next_attempt_at"], recipient)
        .on_conflict_do_nothing()
        .returning(outbox.c.id)
    )
    return written.first() is not None


def claim(connection: sa.Connection, *, due_by: float, until: float) -> Letter | None:
    """Return the message that was due first, which nobody else tries before `until`; None when none was by `due_by`."""
    due = (
        sa.select(outbox.c.id)
        .where(outbox.c.next_attempt_at <= due_by)
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
    command = connection.execute(sa.select(commands).where(commands.c.id == row.command_id)).mappings().one()
    return Letter(row.id, row.command_id, row.recipient, row.created_at, row.attempts, dict(command))


def next_time(connection: sa.Connection) -> float | None:
    """Return when the next message is to be tried, also where another replica is at it now; None when none is left."""
    moment: float | None = connection.execute(sa.select(sa.func.min(outbox.c.next_attempt_at))).scalar()
    return moment


def mark_sent(connection: sa.Connection, letter: Letter, *, now: float) -> None:
    """Write that the server took the message, whoever claims it by now: it must not be sent again."""
    connection.execute(
        sa.update(outbox).where(outbox.c.id == letter.id).values(sent_at=now, next_attempt_at=None, last_error=None)
    )


def mark_failed(connection: sa.Connection, letter: Letter, *, reason: str, again_at: float | None) -> None:
    """Write why an attempt failed and when the next is due (None: given up), unless a later attempt has begun."""
    connection.execute(
        sa.update(outbox)
        .where(outbox.c.id == letter.id, outbox.c.attempts == letter.attempt, outbox.c.sent_at.is_(None))
        .values(next_attempt_at=again_at, last_error=reason[:ERROR_LIMIT])
    )
