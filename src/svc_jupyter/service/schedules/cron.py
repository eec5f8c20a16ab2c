"""Cron expressions: five fields as in cron, six or seven (seconds first, year last) with Quartz's day numbers.

cronsim searches the wall clock and has the words; other syntax is translated into its own: `?`, Quartz's day numbers,
ranges across the weekend, years, `@daily` and the like. Each field is then written in one way, by its values, so that
expressions of the same times run the same and have the same words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, Final

from cronsim import CronSim, CronSimError

LONGEST_EXPRESSION = 255
FIRST_YEAR, LAST_YEAR = 1970, 2099
_ALIASES: Final = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}
_FIELDS: Final = ("second", "minute", "hour", "day-of-month", "month", "day-of-week", "year")
_TAKES: Final = {
    "second": "0 to 59",
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day-of-month": "1 to 31, L (the last day), LW (the last weekday) or ?",
    "month": "1 to 12 or JAN to DEC",
    "day-of-week": "SUN to SAT, FRIL (the last Friday), MON#2 (the second Monday) or ?, and as numbers "
    "0 to 7 (0 and 7 are Sunday) in five fields, 1 to 7 (1 is Sunday) in six or seven",
    "year": f"{FIRST_YEAR} to {LAST_YEAR}",
}
_CRON_FIELDS, _QUARTZ_FIELDS, _QUARTZ_FIELDS_WITH_YEAR = 5, 6, 7
_DAY_OF_MONTH, _DAY_OF_WEEK = 3, 5
_WEEK = 7
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_WEEKDAY_TERM = re.compile(r"([A-Z]{3}|\d)(?:(L)|#(\d)|(?:-([A-Z]{3}|\d))?(?:/(\d{1,2}))?)", re.ASCII)
_YEAR_TERM = re.compile(r"(?:\*|(\d{4})(?:-(\d{4}))?)(?:/(\d{1,3}))?", re.ASCII)
_ANY_YEAR = range(FIRST_YEAR, LAST_YEAR + 1)
_RANGES: Final = (range(60), range(60), range(24), range(1, 32), range(1, 13), range(_WEEK))
_UNITS: Final = {"minute": "minutes", "hour": "hours", "day-of-month": "days", "month": "months"}
"""Fields whose unit is also a time_unit."""
_LISTED: Final = _WEEK
"""So many values of a step have words of their own: Monday, Wednesday and Friday are no step."""
_STEP = re.compile(r"/(\d+)", re.ASCII)
_NUMBER = re.compile(r"\b(\d+)th\b", re.ASCII)
_SECOND = timedelta(seconds=1)


class WrongField(ValueError):
    """An invalid field of a cron expression; the message names it."""

    def __init__(self, field: str, value: str) -> None:
        super().__init__(
            f"cron_expression: the {field} field {value[:40]!r} is wrong; it takes {_TAKES[field]}, "
            "also as lists (1,2), ranges (1-3) and steps (*/2)"
        )


@dataclass(frozen=True, slots=True)
class CronExpression:
    """The wall times of an expression."""

    fields: str
    """Six fields, seconds first, in cronsim's syntax; the same for all expressions of the same times."""
    years: tuple[int, ...] | None
    """The years to which it is limited, in order; None for every year."""
    search: CronSim
    """The parsed fields, to be copied: parsing takes longer than a search."""

    @property
    def has_every_hour(self) -> bool:
        """Whether it has all hours (`*`, `0/1`, `0-23`), so that it follows elapsed time at clock changes."""
        return self.fields.split()[2] == "*"

    def next_wall(self, wall: datetime) -> datetime | None:
        """Return the first of its wall times after `wall`, which must be on a whole second.

        None when there is none within 50 years, longer than the interval of the rarest day (29 February on a Monday).
        Raises OverflowError after the year 9999.
        """
        if self.years is None:
            return self._next(wall)
        place = bisect_left(self.years, wall.year)
        while place < len(self.years):
            year = self.years[place]
            found = self._next(max(wall, datetime(year, 1, 1) - _SECOND))  # noqa: DTZ001
            if found is None or found.year == year:
                return found
            place = bisect_left(self.years, found.year)
        return None

    def explain(self) -> str:
        """Return the expression as text, such as `at 09:30 on Monday through Friday`."""
        words = self.search.explain()
        words = _NUMBER.sub(lambda number: ordinal(int(number[1])), words[0].lower() + words[1:])
        return words if self.years is None else f"{words}, in {_in_words(self.years)}"

    def _next(self, wall: datetime) -> datetime | None:
        search = copy(self.search)
        search.dt = wall
        return next(search, None)


@lru_cache(maxsize=4096)
def parse_cron(text: str) -> CronExpression:
    """Parse an expression.

    Raises ValueError with a message for the user, which names the wrong field or says that such a day never comes.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise ValueError(f"cron_expression is longer than {LONGEST_EXPRESSION} characters")
    parts = _parts(text)
    is_quartz = len(parts) > _CRON_FIELDS
    years = _years(parts.pop()) if len(parts) == _QUARTZ_FIELDS_WITH_YEAR else None
    if not is_quartz:
        parts.insert(0, "0")
    given = tuple(parts)
    for place in (_DAY_OF_MONTH, _DAY_OF_WEEK):
        parts[place] = "*" if parts[place] == "?" else parts[place]
    parts[_DAY_OF_WEEK] = ",".join(
        _weekdays(term, given[_DAY_OF_WEEK], is_quartz) for term in parts[_DAY_OF_WEEK].split(",")
    )
    fields = " ".join(parts)
    try:
        search = CronSim(fields, datetime(2000, 1, 1))  # noqa: DTZ001
    except CronSimError:
        raise _refusal(text, given, parts) from None
    written = _written(search)
    return CronExpression(written, years, CronSim(written, datetime(2000, 1, 1)))  # noqa: DTZ001


def _written(search: CronSim) -> str:
    """Return the fields of a parsed expression as their values need it, whatever way they were written."""
    days: set[Any] = search.days
    weekdays = {day % _WEEK if isinstance(day, int) else day for day in search.weekdays}
    if not search.day_and and (days == set(_RANGES[_DAY_OF_MONTH]) or weekdays == set(_RANGES[_DAY_OF_WEEK])):
        days, weekdays = set(_RANGES[_DAY_OF_MONTH]), set(_RANGES[_DAY_OF_WEEK])  # either of them is enough: any day
    sets: tuple[set[Any], ...] = (search.seconds, search.minutes, search.hours, days, search.months, weekdays)
    fields = []
    for place, (values, given) in enumerate(zip(sets, search.parts, strict=True)):
        of_day = place in (_DAY_OF_MONTH, _DAY_OF_WEEK)
        fields.append(_field(values, _RANGES[place], given, may_have_star=not of_day or given.startswith("*")))
    return " ".join(fields)


def _field(values: set[Any], allowed: range, given: str, *, may_have_star: bool) -> str:
    """Return the field of these values: `*`, a step, or ranges and single values.

    In a field for days a star at the begin also says that the other one must match, too.
    """
    if values == set(allowed):
        return "*"
    if not all(isinstance(value, int) and value in allowed for value in values):
        return given  # the last day, the second Monday
    numbers = sorted(values)
    steps = {after - before for before, after in pairwise(numbers)}
    if len(steps) == 1 and len(numbers) > 2 and (step := steps.pop()) > 1:
        if numbers == list(allowed[::step]) and may_have_star:
            return f"*/{step}"
        if len(numbers) > _LISTED:
            return f"{numbers[0]}-{numbers[-1]}/{step}"
    return ",".join(_runs(numbers))


def _runs(numbers: list[int]) -> Iterator[str]:
    """Yield `1-3` for three or more numbers that follow each other, and all others alone."""
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        yield from [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)


def refuse_long_steps(text: str) -> None:
    """Raise ValueError for a step that leaves only the first value of its field, such as `*/90` in the minutes.

    Such an expression has times, and a schedule that has it already goes on; it is hardly what is meant by a new one.
    """
    parts = _parts(text)
    for place, field in enumerate(parts[:_QUARTZ_FIELDS], 1 if len(parts) == _CRON_FIELDS else 0):
        name, count = _FIELDS[place], len(_RANGES[place])
        for step in map(int, _STEP.findall(field)):
            if step >= count:
                unit = _UNITS.get(name)
                meant = f"; for a run every {step} {unit} give frequency {step} and time_unit {unit}" if unit else ""
                raise ValueError(
                    f"cron_expression: the {name} field {field[:40]!r} has a step of {step}, but only {count} values"
                    f"{meant}"
                )


def _parts(text: str) -> list[str]:
    written = text.upper().strip()
    if written.startswith("@") and written not in _ALIASES:
        known = ", ".join(alias.lower() for alias in _ALIASES)
        raise ValueError(f"cron_expression {text.strip()[:40]!r} is not known; known are {known}")
    parts = _ALIASES.get(written, written).split()
    if not _CRON_FIELDS <= len(parts) <= _QUARTZ_FIELDS_WITH_YEAR:
        raise ValueError(
            f"cron_expression has {len(parts)} fields; give 5 (minute hour day-of-month month day-of-week), "
            "6 (second first) or 7 (year last)"
        )
    return parts


def _refusal(text: str, given: tuple[str, ...], parts: list[str]) -> ValueError:
    """Return why cronsim refuses these fields: one of them is invalid, or they never coincide."""
    for place, part in enumerate(parts):
        alone = ["*"] * len(parts)
        alone[place] = part
        try:
            CronSim(" ".join(alone), datetime(2000, 1, 1))  # noqa: DTZ001
        except CronSimError:
            return WrongField(_FIELDS[place], given[place])
    return never_fires(text)


def never_fires(text: str) -> ValueError:
    """Return the error for an expression that never fires."""
    return ValueError(f"cron_expression {text.strip()[:80]!r} never fires: no such day is still to come")


def _weekdays(term: str, field: str, is_quartz: bool) -> str:
    """Return a term of the day-of-week field with cronsim's numbers, 0 to 6 from Sunday."""
    if term == "*" or term.startswith("*/"):
        return term
    if term == "L" and is_quartz:
        return "6"
    match = _WEEKDAY_TERM.fullmatch(term)
    if match is None:
        raise WrongField("day-of-week", field)
    first_name, is_last, nth, last_name, step = match.groups()
    first = _weekday(first_name, field, is_quartz)
    if is_last or nth:
        return f"{first % _WEEK}{'L' if is_last else f'#{nth}'}"
    last = first if last_name is None else _weekday(last_name, field, is_quartz)
    if last_name is None and step:
        last = _WEEK - 1 if is_quartz else _WEEK
    if step and not int(step):
        raise WrongField("day-of-week", field)
    if first < last < _WEEK and not step:
        return f"{first}-{last}"
    days = range(first, (last if first <= last else last + _WEEK) + 1, int(step or 1))
    return ",".join(str(day % _WEEK) for day in days)


def _weekday(name: str, field: str, is_quartz: bool) -> int:
    if name in _WEEKDAYS:
        return _WEEKDAYS.index(name)
    lowest, highest = (1, _WEEK) if is_quartz else (0, _WEEK)
    if not name.isdigit() or not lowest <= int(name) <= highest:
        raise WrongField("day-of-week", field)
    return int(name) - lowest


def _years(field: str) -> tuple[int, ...] | None:
    """Return the years of the seventh field in order; None for every year."""
    if field == "*":
        return None
    years: set[int] = set()
    for term in field.split(","):
        match = _YEAR_TERM.fullmatch(term)
        if match is None:
            raise WrongField("year", field)
        first, last = int(match[1] or FIRST_YEAR), int(match[2] or match[1] or LAST_YEAR)
        if match[3] and not match[2]:
            last = LAST_YEAR
        step = int(match[3] or 1)
        if not step or first > last or first not in _ANY_YEAR or last not in _ANY_YEAR:
            raise WrongField("year", field)
        years.update(range(first, last + 1, step))
    return tuple(sorted(years))


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `3rd`, `11th`, `31st`."""
    ending = "th" if number % 100 in range(11, 14) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _in_words(years: tuple[int, ...]) -> str:
    """Return years as text: `2027`, `2027 to 2030` or `2027, 2029, 2031, …`."""
    first, last = years[0], years[-1]
    if len(years) > 2 and len(years) == last - first + 1:
        return f"{first} to {last}"
    shown = [str(year) for year in years[:6]]
    return ", ".join(shown if len(years) == len(shown) else [*shown, "…"])
