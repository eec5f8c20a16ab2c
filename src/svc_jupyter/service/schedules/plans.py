"""Converts the body of a creation, an edit or a preview to the values of a schedule's row."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from svc_jupyter.api.commands import CommandType
from svc_jupyter.api.fields import DEFAULT_TIMEOUT_SECONDS
from svc_jupyter.api.schedules import (
    DEFAULT_TIME_OUT_MINUTES,
    DependencyInfo,
    Notification,
    PreviewRequest,
    ScheduleSubmission,
    ScheduleUpdate,
    TimeUnit,
)
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.clusters.gate import ClusterGate
from svc_jupyter.service.commands.intake import described, kind_of
from svc_jupyter.service.commands.kind import Kind
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.macros.macros import MacroError, resolve, substitute
from svc_jupyter.service.schedules.advance import Macros
from svc_jupyter.service.schedules.dependencies import check_dependencies_of
from svc_jupyter.service.schedules.times import known_zone, parse_time, this_minute, wall_clock
from svc_jupyter.service.schedules.timetable import (
    Timetable,
    check_timetable,
    from_seconds,
    instant_of,
    next_nominal_time,
    nominal_times,
    timetable_of,
    wall_time,
    zone_named,
)
from svc_jupyter.service.schema.schedules import Schedule

Values = dict[str, Any]
_JUST_BEFORE = timedelta(microseconds=1)
_FOREVER = 253_000_000_000.0
"""Unix seconds of a moment in the year 9987."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The changes of an edit to the row for which it was made."""

    values: Values
    has_new_start: bool
    """Whether the user gave a new start, from which a frequency counts."""


async def planned(
    body: ScheduleSubmission, caller: Caller, kinds: Mapping[str, Kind], gate: ClusterGate, now: float
) -> Values:
    """Validate a creation; return the values of the new row, without its state. Raises `Invalid`, `Forbidden`."""
    common = _common(body)
    command = await _described(body.command_type, body.command, common, caller, kinds, gate)
    values: Values = {"command_type": body.command_type, "command": command, **common, **_retries(body, command)}
    zone = values["time_zone"] = known_zone(body.time_zone or "UTC")
    timetable = _timetable(body, zone, now)
    values["start_time"] = timetable.start.timestamp()
    values["end_time"] = None if timetable.end is None else timetable.end.timestamp()
    values |= {"frequency": timetable.frequency, "cron_expression": timetable.cron_expression}
    values["time_unit"] = None if timetable.time_unit is None else timetable.time_unit.value
    first = _next(timetable, _begin(timetable, now, no_catch_up=values["no_catch_up"]))
    values["next_nominal"] = first
    await _try_macros(values["macros"], command, from_seconds(now if first is None else first), zone)
    return values


async def changed(
    row: Schedule, body: ScheduleUpdate, caller: Caller, kinds: Mapping[str, Kind], gate: ClusterGate, now: float
) -> Edit:
    """Validate an edit of the schedule of `row`. Raises `Invalid`, `Forbidden`.

    The timetable is checked only where the edit changes it, so that a schedule whose end has passed can be renamed.
    """
    if body.command_type not in (None, row.command_type):
        raise Invalid(f"command_type: the schedule keeps its type, {row.command_type}; create another schedule")
    values = {key: value for key, value in _common(body).items() if _is_given(body, key)}
    if body.command is not None:
        common = {key: values[key] if key in values else getattr(row, key) for key in ("macros", "label")}
        values["command"] = await _described(row.command_type, body.command, common, caller, kinds, gate)
    elif "label" in values:
        await gate.cluster_for(kind_of(row.command_type, kinds), values["label"], row.command, caller)
    retries = _retries(body, values.get("command", {}))
    values |= {key: retries[key] for key in retries if _is_given(body, key) or key in values.get("command", {})}
    values |= _new_timetable(row, body)
    after = replace(row, **values)
    timetable = timetable_of(after)
    is_new = timetable != timetable_of(row)
    if is_new:
        _check(timetable, now)
    if after.dependency_info is not None and (is_new or "dependency_info" in values):
        check_dependencies_of(DependencyInfo.model_validate(after.dependency_info), timetable)
    if values.keys() & {"command", "macros", "time_zone"}:
        moment = from_seconds(now if row.next_nominal is None else row.next_nominal)
        await _try_macros(after.macros, after.command, moment, after.time_zone)
        if "command" not in values:  # else its description has checked them
            await _try_macros_of_sub_commands(after, moment)
    return Edit(values, has_new_start=_is_new(row, "start_time", body.start_time))


def next_after_edit(before: Schedule, edit: Edit, now: float) -> float | None:
    """Return the next nominal time of an edited schedule; `before` is its row in the transaction of the edit.

    No nominal time is materialised twice. Missed ones are caught up on by the new timetable; a new start counts from
    itself, and a later end continues where the earlier one had stopped.
    """
    old, new = timetable_of(before), timetable_of(replace(before, **edit.values))
    standing, last = before.next_nominal, before.last_nominal
    if new == old:
        return standing
    begins = from_seconds(now)
    has_at_most_a_new_end = replace(new, end=old.end) == old
    if standing is not None and (has_at_most_a_new_end or standing < now):
        begins = from_seconds(standing) - _JUST_BEFORE
    elif has_at_most_a_new_end:
        begins = _begin(new, now, no_catch_up=before.no_catch_up) if last is None else from_seconds(last)
    if edit.has_new_start and new.cron_expression is None:
        begins = _begin(new, now, no_catch_up=before.no_catch_up)
    if last is not None:
        begins = max(begins, from_seconds(last))
    return _next(new, begins)


def _new_timetable(row: Schedule, body: ScheduleUpdate) -> Values:
    """Return the timetable's columns that an edit gives; a time equal to the record's is not a change."""
    values: Values = {}
    if body.time_zone is not None:
        values["time_zone"] = known_zone(body.time_zone)
        if values["time_zone"] != row.time_zone:
            values |= _moved(row, values["time_zone"])
    zone = values.get("time_zone", row.time_zone)
    for key, given in (("start_time", body.start_time), ("end_time", body.end_time)):
        if _is_new(row, key, given):
            values[key] = parse_time(given or "", zone, key).timestamp()
    if body.end_time == "":
        values["end_time"] = None
    return values | _new_rhythm(row, body)


def _is_new(row: Schedule, key: str, given: str | None) -> bool:
    return bool(given and given.strip() != wall_clock(getattr(row, key), row.time_zone))


def _new_rhythm(row: Schedule, body: ScheduleUpdate) -> Values:
    if body.cron_expression:
        return {"cron_expression": body.cron_expression, "frequency": None, "time_unit": None}
    if body.frequency is not None:
        unit = body.time_unit or (TimeUnit(row.time_unit) if row.time_unit else TimeUnit.DAYS)
        return {"frequency": body.frequency, "time_unit": unit.value, "cron_expression": None}
    if body.time_unit is None:
        return {}
    if row.frequency is None:
        raise Invalid("time_unit: the schedule has a cron_expression; give frequency, too")
    return {"time_unit": body.time_unit.value}


async def _described(
    command_type: str,
    command: Mapping[str, Any],
    common: Mapping[str, Any],
    caller: Caller,
    kinds: Mapping[str, Kind],
    gate: ClusterGate,
) -> Values:
    """Return the record's `command`; sub-commands get the schedule's label and may use its macros."""
    body = {**command, "macros": list(common["macros"] or []), "label": common["label"]}
    try:
        return await described(command_type, body, caller, kinds, gate)
    except Invalid as error:
        raise Invalid(error.message, _fields_of_command(error.fields or {})) from None


def _common(body: ScheduleSubmission | ScheduleUpdate) -> Values:
    """Return the attributes whose defaults are plain values; their columns have the names of the body."""
    notification = body.notification or Notification()
    info = body.dependency_info
    return {
        "name": body.name or None,
        "label": body.label,
        "tags": body.tags,
        "pool": body.pool,
        "macros": [dict(macro) for macro in body.macros or []] or None,
        "no_catch_up": bool(body.no_catch_up),
        "command_timeout": body.command_timeout or DEFAULT_TIMEOUT_SECONDS,
        "time_out": DEFAULT_TIME_OUT_MINUTES if body.time_out is None else body.time_out,
        "concurrency": body.concurrency or 1,
        "dependency_info": _stored(info),
        "can_notify": bool(body.can_notify),
        "is_digest": notification.is_digest,
        "digest_time_hour": notification.digest_time_hour,
        "digest_time_minute": notification.digest_time_minute,
        "notify_failure": notification.notify_failure,
        "notify_success": notification.notify_success,
        "notification_channels": list(notification.notification_channels) or None,
        "due_by": body.due_by or None,
        "longer_than": body.longer_than or None,
    }


_OF_NOTIFICATION = frozenset(Notification.model_fields)


def _is_given(body: ScheduleUpdate, key: str) -> bool:
    given = body.model_fields_set
    return key in given or (key in _OF_NOTIFICATION and "notification" in given)


def _stored(info: DependencyInfo | None) -> Values | None:
    if info is None or not (info.files or info.hive_tables):
        return None
    return info.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=False)


def _retries(body: ScheduleSubmission | ScheduleUpdate, command: Mapping[str, Any]) -> Values:
    """Return the retries; a notebook's command holds its own `retry` and `retry_delay`."""
    retry = command.get("retry") if body.retry is None else body.retry
    delay = command.get("retry_delay") if body.retry_delay is None else body.retry_delay
    return {"retry": retry or 0, "retry_delay": 1 if delay is None else delay}


def _moved(row: Schedule, zone: str) -> Values:
    """Return the schedule's times with the same wall clock in another zone: nine o'clock stays nine o'clock."""
    old, new = zone_named(row.time_zone), zone_named(zone)
    return {
        key: instant_of(wall_time(from_seconds(seconds), old), new).timestamp()
        for key, seconds in (("start_time", row.start_time), ("end_time", row.end_time))
        if seconds is not None
    }


def _timetable(body: ScheduleSubmission | PreviewRequest, zone: str, now: float) -> Timetable:
    """Return the timetable of a creation or a preview, checked together with the dependencies. Raises `Invalid`."""
    timetable = Timetable(
        start=parse_time(body.start_time, zone, "start_time") if body.start_time else this_minute(now),
        end=parse_time(body.end_time, zone, "end_time") if body.end_time else None,
        time_zone=zone,
        frequency=body.frequency,
        time_unit=None if body.frequency is None else (body.time_unit or TimeUnit.DAYS),
        cron_expression=body.cron_expression or None,
    )
    _check(timetable, now)
    check_dependencies_of(body.dependency_info, timetable)
    return timetable


def _check(timetable: Timetable, now: float) -> None:
    try:
        check_timetable(timetable, from_seconds(now))
    except ValueError as error:
        raise Invalid(str(error)) from None


def _begin(timetable: Timetable, now: float, *, no_catch_up: bool) -> datetime:
    """Return the moment after which the first nominal time lies."""
    if timetable.cron_expression is not None:
        return from_seconds(now)
    before = timetable.start - _JUST_BEFORE
    return max(before, from_seconds(now)) if no_catch_up else before


def _next(timetable: Timetable, after: datetime) -> float | None:
    following = next_nominal_time(timetable, after)
    return None if following is None else following.timestamp()


async def _try_macros(macros: Macros | None, command: Values, nominal_time: datetime, time_zone: str) -> None:
    """Evaluate the macros once: a failure now would repeat at every run. Raises `MacroError`."""
    if macros:
        substitute(command, await asyncio.to_thread(resolve, macros, nominal_time, time_zone))


async def _try_macros_of_sub_commands(row: Schedule, nominal_time: datetime) -> None:
    """Evaluate the macros of a composite's sub-commands after the schedule's. Raises `Invalid`."""
    if row.command_type != CommandType.COMPOSITE:
        return
    for number, sub_command in enumerate(row.command["sub_commands"], start=1):
        if own := sub_command.get("macros"):
            try:
                await asyncio.to_thread(resolve, [*(row.macros or []), *own], nominal_time, row.time_zone)
            except MacroError as error:
                raise Invalid(f"sub-command {number} ({sub_command['command_type']}): {error.message}") from None


def _fields_of_command(found: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a command by their paths in the schedule, where two of them are beside the command."""
    return {path if path in ("label", "macros") else f"command.{path}": reason for path, reason in found.items()}


async def preview(body: PreviewRequest, now: float) -> dict[str, Any]:
    """Return a preview in the shape of `Preview`; `now` is Unix seconds. Raises `Invalid`."""
    zone = known_zone(body.time_zone or "UTC")
    nominal_time = parse_time(body.nominal_time, zone, "nominal_time") if body.nominal_time else from_seconds(int(now))
    values = await asyncio.to_thread(resolve, body.macros or [], nominal_time, zone)
    named = {name: value for macro in values for name, value in macro.items()}
    return {"command": substitute(body.command or {}, values), "macros": named} | _when(body, zone, now)


def _when(body: PreviewRequest, zone: str, now: float) -> dict[str, Any]:
    if body.frequency is None and not body.cron_expression:
        return {}
    timetable = _timetable(body, zone, now)
    coming = nominal_times(timetable, from_seconds(now), from_seconds(_FOREVER))
    return {
        "description": timetable.explain(),
        "next_times": [iso_time(moment.timestamp()) for moment in itertools.islice(coming, body.times)],
    }
