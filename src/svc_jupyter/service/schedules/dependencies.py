"""What an action needs before it runs: files and partitions of a window of steps around its nominal time.

Pure: a `DependencyChecker` looks them up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Literal, Protocol

from svc_jupyter.api.schedules import DependencyInfo, FileDependency, HiveTableDependency
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.schedules.times import parse_time
from svc_jupyter.service.schedules.timetable import Timetable, shift, zone_named
from svc_jupyter.service.storage.locations import Location, Scheme, parse_location

NEEDED_LIMIT = 10_000
"""The most files and partitions that one action may wait for."""
_FIRST_YEAR, _LAST_YEAR = 1900, 9000
_STORAGE = Location(Scheme.FILE, "", "storage")
"""Stands for the account's storage where only the form of a location is checked."""
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_HIVE_NAME = re.compile(r"\w{1,128}", re.ASCII)
_ESCAPED_IN_PARTITIONS = re.compile(r"[\x01-\x1f\x7f\"#%'*/:=?\\{\[\]^]")
Entry = FileDependency | HiveTableDependency
_DIRECTIVE = re.compile(r"%(-?[dmyHIMSj]|[%YGuwVUWaAbBpfzZFTR])?")
"""The directives that mean the same on every machine: no local date formats, no local clock."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A file or a partition that must exist.

    `key` appears in the action's `found` and `not_found`: the location of a file, or
    `schema.table/day=2026-11-21/region=EU`, with names and values of columns as Hive writes them in paths.
    """

    kind: Literal["file", "hive"]
    key: str
    may_be_folder: bool = False
    """Whether a non-empty folder satisfies a file dependency."""


class DependencyChecker(Protocol):
    """Looks up files or partitions."""

    async def found(self, account_id: int, keys: Sequence[Needed]) -> set[Needed]:
        """Return those that exist now. Raises `Invalid` when this cannot be determined."""
        ...


class TableChecker(Protocol):
    """Checks the tables that a schedule depends on."""

    async def check(self, account_id: int, info: DependencyInfo) -> None:
        """Raise `Invalid` for dependencies that can never be found, such as partitions of an unknown table."""
        ...


def needed(info: DependencyInfo, nominal_time: datetime, timetable: Timetable) -> list[Needed]:
    """Return all that the action of a nominal time needs, each once; `info` and `timetable` must be valid."""
    found: dict[tuple[str, str], Needed] = {}
    for entry in _entries(info):
        zone = zone_named(entry.time_zone or timetable.time_zone)
        for step in _steps(entry, nominal_time, timetable):
            for item in _rendered(entry, step.astimezone(zone)):
                found.setdefault((item.kind, item.key), item)
    return list(found.values())


class WrongDependency(ValueError):
    """An invalid entry; `place` is its path in the dependencies."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


def check_dependencies(info: DependencyInfo, timetable: Timetable) -> None:
    """Raise ValueError, with a message for the user that names the entry, for invalid dependencies.

    Invalid are: a missing interval with a cron expression, a window that ends before it begins or leaves the calendar,
    an unknown zone, an invalid mask or location, and more than an action can wait for.
    """
    places = [f"files.{number}" for number in range(len(info.files))]
    places += [f"hive_tables.{number}" for number in range(len(info.hive_tables))]
    for place, entry in zip(places, _entries(info), strict=True):
        try:
            _check(entry, timetable)
        except (ValueError, Invalid) as error:
            raise WrongDependency(place, str(error)) from None
    total = sum(_size(entry) for entry in _entries(info))
    if total > NEEDED_LIMIT:
        raise ValueError(f"an action would wait for {total} files and partitions; at most {NEEDED_LIMIT} are possible")


def check_dependencies_of(info: DependencyInfo | None, timetable: Timetable) -> None:
    """Check the dependencies of a submission, if any. Raises `Invalid`, which names the field."""
    if info is None:
        return
    try:
        check_dependencies(info, timetable)
    except WrongDependency as error:
        raise Invalid(f"dependency_info: {error}", {f"dependency_info.{error.place}": error.reason}) from None
    except ValueError as error:
        raise Invalid(f"dependency_info: {error}") from None


def _entries(info: DependencyInfo) -> list[Entry]:
    return [*info.files, *info.hive_tables]


def _steps(entry: Entry, nominal_time: datetime, timetable: Timetable) -> Iterator[datetime]:
    """Yield the steps of the window, except those before `initial_instance`, which count as found."""
    earliest = _initial_instance(entry, timetable)
    for offset in range(entry.window_start, entry.window_end + 1):
        step = _step(entry, nominal_time, timetable, offset)
        if earliest is None or step >= earliest:
            yield step


def _step(entry: Entry, nominal_time: datetime, timetable: Timetable, offset: int) -> datetime:
    """Return the step that lies `offset` intervals from the nominal time.

    Without an interval these are the schedule's own steps: 31 January precedes 28 February in a monthly schedule.
    """
    if entry.interval:
        [(unit, size)] = entry.interval.items()
        return shift(nominal_time, unit, offset * size, entry.time_zone or timetable.time_zone)
    steps = timetable.steps
    if steps is None:
        return nominal_time
    k = steps.first_after(nominal_time) - 1
    if steps.at(k) == nominal_time:
        return steps.at(k + offset)
    return shift(nominal_time, steps.unit, offset * steps.size, steps.time_zone)  # of an earlier timetable


def _rendered(entry: Entry, wall: datetime) -> Iterator[Needed]:
    """Yield what an entry needs at one step."""
    if isinstance(entry, FileDependency):
        path = render(entry.path, wall)
        if entry.done_flag is None:
            yield Needed("file", path, may_be_folder=True)
        else:
            yield Needed("file", f"{path.rstrip('/')}/{entry.done_flag}")
        return
    given = [[render(value, wall)] if isinstance(value, str) else value for value in entry.columns.values()]
    for values in product(*given):
        partition = [_partition(*pair) for pair in zip(entry.columns, values, strict=True)]
        yield Needed("hive", "/".join([f"{entry.schema_}.{entry.name}", *partition]))


def _partition(column: str, value: str) -> str:
    """Return `column=value` as Hive writes it in paths."""
    return f"{_escaped(column.lower())}={_escaped(value)}"


def _escaped(text: str) -> str:
    return _ESCAPED_IN_PARTITIONS.sub(lambda match: f"%{ord(match[0]):02X}", text)


def _initial_instance(entry: Entry, timetable: Timetable) -> datetime | None:
    if not entry.initial_instance:
        return None
    return parse_time(entry.initial_instance, entry.time_zone or timetable.time_zone, "initial_instance")


def _size(entry: Entry) -> int:
    """Return how many keys an entry has, without expanding it."""
    steps = entry.window_end - entry.window_start + 1
    if isinstance(entry, FileDependency):
        return steps
    return steps * math.prod(len(given) for given in entry.columns.values() if not isinstance(given, str))


def _check(entry: Entry, timetable: Timetable) -> None:
    if entry.window_start > entry.window_end:
        raise ValueError("window_start must not be later than window_end")
    if entry.interval is None and timetable.cron_expression is not None and (entry.window_start or entry.window_end):
        raise ValueError('interval is needed beside cron_expression, as in {"days": 1}')
    if entry.interval is not None and len(entry.interval) != 1:
        raise ValueError('interval must have one unit, as in {"days": 1}')
    zone_named(entry.time_zone or timetable.time_zone)
    _initial_instance(entry, timetable)
    wall = _checked_window(entry, timetable)
    if isinstance(entry, FileDependency):
        _check_file(entry, wall)
    else:
        _check_table(entry)


def _checked_window(entry: Entry, timetable: Timetable) -> datetime:
    """Return a step of the window, to check masks with."""
    try:
        edges = [_step(entry, timetable.start, timetable, offset) for offset in (entry.window_start, entry.window_end)]
    except OverflowError:
        edges = []
    if not edges or not all(_FIRST_YEAR <= step.year <= _LAST_YEAR for step in edges):
        raise ValueError(f"the window from window_start to window_end leaves the years {_FIRST_YEAR} to {_LAST_YEAR}")
    return edges[0]


def _check_file(entry: FileDependency, wall: datetime) -> None:
    _check_text("path", entry.path)
    if entry.done_flag is not None and (not entry.done_flag.strip() or "/" in entry.done_flag):
        raise ValueError("done_flag must be the name of a file inside path, such as _SUCCESS")
    for item in _rendered(entry, wall):
        location = parse_location(item.key, base=_STORAGE)
        if location.query:
            raise ValueError("path must have no query: it is rendered for each step, and shown")


def _check_table(entry: HiveTableDependency) -> None:
    for field, name in (("schema", entry.schema_), ("name", entry.name)):
        if not _HIVE_NAME.fullmatch(name):
            raise ValueError(f"{field} {name[:40]!r} is not a name of Hive (letters, digits and _)")
    for column, given in entry.columns.items():
        field = f"columns.{column[:40]!a}"
        if not column.strip():
            raise ValueError("columns must be named")
        if isinstance(given, str):
            _check_text(field, given)
        elif not given:
            raise ValueError(f"{field} has no values")
        values = [given] if isinstance(given, str) else given
        if not all(values):
            raise ValueError(f"{field} has an empty value")
        if any(_UNWRITABLE.search(text) for text in (column, *values)):
            raise ValueError(f"{field} holds a control character")


def _check_text(field: str, mask: str) -> None:
    try:
        check_mask(mask)
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from None


def check_mask(mask: str) -> None:
    """Raise ValueError, with a message for the user, for a `%` that begins no directive."""
    for match in _DIRECTIVE.finditer(mask):
        if match[1] is None:
            shown = mask[match.start() : match.start() + 2]
            raise ValueError(f"{shown!r} is not a date directive such as %Y, %m, %d or %H; write %% for a percent sign")


def render(mask: str, wall: datetime) -> str:
    """Return the mask with its directives replaced for `wall`, which is aware: `%z` and `%Z` name its zone."""
    return _DIRECTIVE.sub(lambda match: wall.strftime(match[0]), mask)
