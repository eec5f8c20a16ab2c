"""Digests: collect the ends of a schedule's actions into one message a day.

An action is in the digest that follows its end. One transaction deletes the collected rows and writes the digest's
messages into the outbox. So each end is in exactly one digest, whichever replica writes it and however often that is
killed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database, conflict_insert
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.audience import Outcome, Recipient, schedule_audience
from svc_jupyter.service.notifications.due_work import NOTIFY, DueWork
from svc_jupyter.service.notifications.events import Event, digest_event, digest_key
from svc_jupyter.service.schema.notifications import digest_entries
from svc_jupyter.service.schema.schedules import Schedule, schedules

DIGESTS = "digests"
_LOCK = 0x5C4A04
"""Key of the advisory lock under which PostgreSQL replicas write digests: two would split a day's actions."""
Deliverable = Callable[[Sequence[Recipient]], list[Recipient]]


def gather(connection: sa.Connection, schedule: Schedule, event: Event, outcome: Outcome, *, ended_at: float) -> None:
    """Store the end of an action for the schedule's next digest."""
    connection.execute(
        conflict_insert(connection, digest_entries)
        .values(
            schedule_id=schedule.id,
            event=event.key,
            outcome=outcome.value,
            content=event.content["action"],
            ended_at=ended_at,
            due_at=_due_at(schedule, ended_at),
        )
        .on_conflict_do_nothing()
    )


def reschedule(connection: sa.Connection, schedule: Schedule, *, now: float) -> bool:
    """Move the collected rows to the digest of an edited schedule, or send them at once if it has no digests.

    Return whether any rows are collected.
    """
    gathered = connection.execute(
        sa.select(digest_entries.c.id, digest_entries.c.ended_at).where(digest_entries.c.schedule_id == schedule.id)
    ).all()
    for row in gathered:
        due_at = _due_at(schedule, row.ended_at) if schedule.is_digest else now
        connection.execute(sa.update(digest_entries).where(digest_entries.c.id == row.id).values(due_at=due_at))
    return bool(gathered)


class Digests(DueWork):
    """Writes due digests into the outbox, including those of a time when no service ran."""

    def __init__(self, database: Database, bus: Bus, clock: Callable[[], float], *, deliverable: Deliverable) -> None:
        super().__init__(DIGESTS, database, bus, clock)
        self._bus = bus
        self._deliverable = deliverable

    async def _round(self) -> None:
        work = partial(self._write_next, self._clock())
        while not self._stopping and await self._database.write(work):
            pass

    async def _next_time(self) -> float | None:
        return await self._database.read(_next_due)

    def _write_next(self, now: float, connection: sa.Connection) -> bool:
        """Write the digest with the earliest due time; return False when none is due."""
        if not self._database.on_sqlite:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        first = connection.execute(
            sa.select(digest_entries.c.schedule_id)
            .where(digest_entries.c.due_at <= now)
            .order_by(digest_entries.c.due_at)
            .limit(1)
        ).scalar()
        if first is None:
            return False
        schedule = Schedule.of(connection.execute(sa.select(schedules).where(schedules.c.id == first)).one())
        gathered = (digest_entries.c.schedule_id == first) & (digest_entries.c.due_at <= now)
        rows = connection.execute(sa.select(digest_entries).where(gathered)).all()
        due_at = max(row.due_at for row in rows)
        if outbox.has_message(connection, digest_key(schedule.id, due_at)):
            # Ended before that digest, but written only after it.
            connection.execute(sa.update(digest_entries).where(gathered).values(due_at=_due_at(schedule, now)))
            return True
        self._queue(connection, schedule, due_at, rows, now)
        connection.execute(sa.delete(digest_entries).where(digest_entries.c.id.in_([row.id for row in rows])))
        return True

    def _queue(
        self, connection: sa.Connection, schedule: Schedule, due_at: float, rows: Sequence[sa.Row[Any]], now: float
    ) -> None:
        """Write one message per recipient, with the outcomes that the schedule reports to each."""
        outcomes: dict[Recipient, set[str]] = {}
        for outcome in {Outcome(row.outcome) for row in rows}:
            for recipient in self._deliverable(schedule_audience(connection, schedule, {outcome})):
                outcomes.setdefault(recipient, set()).add(outcome.value)
        for recipient, wanted in outcomes.items():
            event = digest_event(schedule, due_at, [row.content for row in rows if row.outcome in wanted])
            for medium in outbox.put(connection, event, [recipient], now=now):
                self._bus.publish(connection, NOTIFY, medium.value)


def _due_at(schedule: Schedule, after: float) -> float:
    return next_digest(
        after,
        hour=schedule.digest_time_hour,
        minute=schedule.digest_time_minute,
        time_zone=schedule.time_zone,
    )


def _next_due(connection: sa.Connection) -> float | None:
    moment: float | None = connection.execute(sa.select(sa.func.min(digest_entries.c.due_at))).scalar()
    return moment


def next_digest(after: float, *, hour: int, minute: int, time_zone: str) -> float:
    """Return the first moment strictly after `after` at which the zone's clocks show hour:minute; Unix seconds.

    Once a day: a skipped local time counts as the moment that follows, a repeated one as its first occurrence.
    """
    zone = ZoneInfo(time_zone)
    day = datetime.fromtimestamp(after, zone).date()
    while True:
        moment = datetime.combine(day, time(hour, minute), zone).astimezone(UTC).timestamp()
        if moment > after:
            return moment
        day += timedelta(days=1)
