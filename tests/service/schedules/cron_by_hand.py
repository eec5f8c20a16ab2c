"""Cron expressions as sets of numbers, matched minute by minute: what the real search is compared with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

Clock = Iterable[tuple[datetime, datetime]]


@dataclass(frozen=True)
class Fields:
    """What each field allows; None is `*`. Weekdays from 0, Sunday."""

    minutes: frozenset[int] | None
    hours: frozenset[int] | None
    days: frozenset[int] | None = None
    months: frozenset[int] | None = None
    weekdays: frozenset[int] | None = None

    @property
    def text(self) -> str:
        given = (self.minutes, self.hours, self.days, self.months, self.weekdays)
        return " ".join("*" if field is None else ",".join(map(str, sorted(field))) for field in given)

    def match(self, wall: datetime) -> bool:
        if self.minutes is not None and wall.minute not in self.minutes:
            return False
        if self.hours is not None and wall.hour not in self.hours:
            return False
        if self.months is not None and wall.month not in self.months:
            return False
        day = self.days is None or wall.day in self.days
        weekday = self.weekdays is None or wall.isoweekday() % 7 in self.weekdays
        return (day and weekday) if self.days is None or self.weekdays is None else (day or weekday)


def firings(fields: Fields, clock: Clock, step: timedelta) -> list[datetime]:
    """Return when it fires on this clock, whose instants go forward by `step`.

    A wildcard hour fires whenever the clock shows one of its times; a fixed one when the clock first reaches or
    passes it.
    """
    if fields.hours is None:
        return [instant for instant, wall in clock if fields.match(wall)]
    fired: list[datetime] = []
    reached: datetime | None = None
    for instant, wall in clock:
        if reached is None:
            reached = wall - step
        is_due = False
        while reached < wall:
            reached += step
            is_due = is_due or fields.match(reached)
        if is_due:
            fired.append(instant)
    return fired
