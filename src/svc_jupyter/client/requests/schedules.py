"""The fields of schedules, and the choice of a schedule or of an action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypedDict

from svc_jupyter.api.schedules import ActionRecord, ScheduleRecord
from svc_jupyter.client.errors import NotFound, NotUnique
from svc_jupyter.client.requests.commands import Macros

LEAST_NAME = 3
"""Minimum length of a substring in a search by name."""
_NEAR_NAMES = 10


class ScheduleFields(TypedDict, total=False):
    """The fields of a schedule besides its command.

    Exactly one of `frequency` (with `time_unit`) and `cron_expression`. `time_out` and `retry_delay` are minutes,
    `command_timeout` is seconds; times are `YYYY-MM-DD HH:MM` of `time_zone`, or instants with `Z`.
    """

    name: str | None
    label: str | None
    tags: str | Sequence[str] | None
    macros: Macros | None
    frequency: int | None
    time_unit: str | None
    cron_expression: str | None
    start_time: str | None
    end_time: str | None
    time_zone: str | None
    no_catch_up: bool | None
    concurrency: int | None
    time_out: int | None
    command_timeout: int | None
    retry: int | None
    retry_delay: int | None
    pool: str | None
    dependency_info: Mapping[str, Any] | None
    notification: Mapping[str, Any] | None
    can_notify: bool | None


class PreviewFields(TypedDict, total=False):
    """The fields of a preview; with a timetable a service with the extension also returns the next nominal times."""

    command: Mapping[str, Any] | None
    macros: Macros | None
    nominal_time: str | None
    time_zone: str | None
    frequency: int | None
    time_unit: str | None
    cron_expression: str | None
    start_time: str | None
    end_time: str | None
    times: int


def is_true(word: Any) -> bool:
    """Return whether a value is `true`, `"true"` or `"True"`."""
    return word if isinstance(word, bool) else str(word).strip().lower() == "true"


def chosen(name_or_id: str, schedules: Sequence[ScheduleRecord]) -> ScheduleRecord:
    """Return the schedule with this name, else the one with these digits as its id.

    Among several with the same name, returns the only one that is neither done nor killed, or else the newest. Raises
    NotFound with the nearest names, or NotUnique when several are active.
    """
    named = [schedule for schedule in schedules if schedule.name == name_or_id]
    living = [schedule for schedule in named if not is_over(schedule)]
    if len(living) > 1:
        ids = ", ".join(str(schedule.id) for schedule in living)
        raise NotUnique(f"{len(living)} schedules are named {name_or_id!r}; give the id: {ids}")
    if named:
        return living[0] if living else max(named, key=lambda schedule: schedule.id)
    if with_id := [schedule for schedule in schedules if str(schedule.id) == name_or_id]:
        return with_id[0]
    names = sorted({schedule.name for schedule in schedules})
    near = get_close_matches(name_or_id, names, n=3) or names[:_NEAR_NAMES]
    hint = f"did you mean {' or '.join(near)}?" if near else "there are no schedules yet"
    raise NotFound(f"there is no schedule {name_or_id!r}; {hint}", status=404)


def is_over(schedule: ScheduleRecord) -> bool:
    """Whether no further nominal time will come; only the contract's final statuses count."""
    return str(schedule.status).upper() in ("DONE", "KILLED")


def latest(actions: list[ActionRecord]) -> ActionRecord:
    """Return the newest of an action and its reruns."""
    return max(actions, key=lambda action: (action.rerun_number, action.id))
