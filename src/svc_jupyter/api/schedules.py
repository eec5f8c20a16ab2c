"""Schedules, their actions and their dependencies."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.fields import DEFAULT_TIMEOUT_SECONDS, Id, Macros, Name, PagingInfo, Record, Request, Tags
from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.api.text import UNREADABLE

DEFAULT_TIME_OUT_MINUTES = 600
"""How long an action waits for its dependencies unless the schedule says otherwise."""
DEPENDENCIES_LIMIT = 100
_MOST_DIGITS = 18
_LARGEST_MULTIPLE = 1000


class TimeUnit(StrEnum):
    """What `frequency` counts."""

    MINUTES = "minutes"
    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"


def _number(value: Any) -> Any:
    """Whole numbers may come as strings; the rest is left to the type check."""
    if isinstance(value, str) and len(value) <= _MOST_DIGITS:
        digits = value.strip().removeprefix("-")
        if digits.isascii() and digits.isdigit():
            return int(value)
    return value


Unit = Annotated[TimeUnit, Field(strict=False)]
Offset = Annotated[int, BeforeValidator(_number), Field(ge=-1_000_000, le=1_000_000)]
"""Whole intervals from the nominal time: 0 is its own, -1 the one before."""
Interval = dict[Unit, Annotated[int, BeforeValidator(_number), Field(ge=1, le=1_000_000)]]
"""One unit and how many of it, as in `{"days": 1}`."""


def _text(value: Any) -> Any:
    """A partition's value is a text in the metastore, and a number in many a client's JSON."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


ColumnValue = Annotated[str, BeforeValidator(_text)]


class FileDependency(Request):
    """Files that must be there before an action runs: `path` is a strftime mask, rendered at each step of the window.

    Without `interval` the steps are the schedule's own; `done_flag` names a file inside the path.
    """

    id: str | None = Field(default=None, max_length=255)
    path: str = Field(min_length=1, max_length=2048)
    window_start: Offset = 0
    window_end: Offset = 0
    done_flag: str | None = Field(default=None, max_length=255)
    interval: Interval | None = Field(default=None, min_length=1, max_length=1)
    initial_instance: str | None = Field(default=None, max_length=40)
    time_zone: str | None = Field(default=None, max_length=64)


class HiveTableDependency(Request):
    """Partitions of a Hive table: a column's value is a strftime mask or an array of values, all of which must exist.

    Steps before `initial_instance` count as found.
    """

    schema_: Annotated[str, Field(alias="schema", min_length=1, max_length=128)]
    name: str = Field(min_length=1, max_length=128)
    window_start: Offset = 0
    window_end: Offset = 0
    interval: Interval | None = Field(default=None, min_length=1, max_length=1)
    columns: dict[str, str | list[ColumnValue]] = Field(min_length=1, max_length=32)
    initial_instance: str | None = Field(default=None, max_length=40)
    time_zone: str | None = Field(default=None, max_length=64)


class DependencyInfo(Request):
    """What must be there before an action runs."""

    files: list[FileDependency] = Field(default_factory=list, max_length=DEPENDENCIES_LIMIT)
    hive_tables: list[HiveTableDependency] = Field(default_factory=list, max_length=DEPENDENCIES_LIMIT)


class Notification(Request):
    """Who is notified of a schedule's runs; the digest's time is in the schedule's zone."""

    is_digest: bool = False
    digest_time_hour: int = Field(default=0, ge=0, le=23)
    digest_time_minute: int = Field(default=0, ge=0, le=59)
    notify_failure: bool = False
    notify_success: bool = False
    notification_channels: list[Id] = Field(default_factory=list, max_length=100)


def _multiple(value: float) -> float:
    if value and not 1 <= value <= _LARGEST_MULTIPLE:
        raise ValueError(f"give a number from 1 to {_LARGEST_MULTIPLE}, or 0 for none")
    return value


Multiple = Annotated[float, BeforeValidator(_number), AfterValidator(_multiple)]


class _ScheduleFields(Request):
    """What creation and edit have in common; `time_out` and `retry_delay` are minutes, `command_timeout` seconds."""

    command: dict[str, Any] | None = None
    start_time: str | None = Field(default=None, max_length=40)
    end_time: str | None = Field(default=None, max_length=40)
    frequency: Annotated[int | None, BeforeValidator(_number), Field(ge=1, le=1_000_000)] = None
    time_unit: Unit | None = None
    cron_expression: str | None = Field(default=None, max_length=255)
    name: Name | None = None
    label: str | None = Field(default=None, max_length=255)
    tags: Tags = None
    macros: Macros | None = None
    no_catch_up: bool | None = None
    time_zone: str | None = Field(default=None, max_length=64)
    command_timeout: Annotated[int | None, BeforeValidator(_number), Field(ge=1, le=DEFAULT_TIMEOUT_SECONDS)] = None
    time_out: Annotated[int | None, BeforeValidator(_number), Field(ge=0, le=10_000_000)] = None
    concurrency: Annotated[int | None, BeforeValidator(_number), Field(ge=1, le=1000)] = None
    retry: int | None = Field(default=None, ge=0, le=3)
    retry_delay: int | None = Field(default=None, ge=0, le=1440)
    pool: str | None = Field(default=None, max_length=255, pattern=rf"^[^{UNREADABLE}]*$")
    dependency_info: DependencyInfo | None = None
    notification: Notification | None = None
    can_notify: bool | None = None
    # Extensions that another service may lack.
    due_by: str | None = Field(
        default=None,
        pattern=r"^(([01]\d|2[0-3]):[0-5]\d)?$",
        description="HH:MM in `time_zone`: a message when a run has not ended by then; empty for none",
    )
    longer_than: Multiple | None = Field(
        default=None, description="A message when a run takes this many times the median of the last 30; 0 for none"
    )

    @model_validator(mode="after")
    def _not_both(self) -> _ScheduleFields:
        if self.frequency is not None and self.cron_expression:
            raise ValueError("give frequency or cron_expression, never both")
        return self


class ScheduleSubmission(_ScheduleFields):
    """Body of `POST scheduler`."""

    command_type: str = Field(min_length=1, max_length=64)
    command: dict[str, Any]

    @model_validator(mode="after")
    def _when(self) -> ScheduleSubmission:
        if self.frequency is None and not self.cron_expression:
            raise ValueError("give exactly one of frequency and cron_expression")
        return self


class ScheduleUpdate(_ScheduleFields):
    """Body of `PUT scheduler/ID`: the changed attributes; an empty `end_time` means none.

    `status` asks for a change of state instead: `suspend`, `resume` (which takes `no_catch_up`) or `kill`.
    """

    status: Literal["suspend", "resume", "kill"] | None = None
    command_type: str | None = Field(default=None, max_length=64, description="May be repeated, not changed")


class LastAction(Record):
    """The newest action of a schedule, shown with the schedule; `status` as in `ActionRecord`."""

    id: int
    sequence_id: int
    nominal_time: str
    done: bool
    status: str
    query_hist_id: int | None = None
    message: str | None = None


class RunAlert(Record):
    """A run under way that is late by `due_by`, or takes long by `longer_than`; times are ISO 8601 UTC."""

    alert: Literal["late", "long"]
    action_id: int
    nominal_time: str
    since: str = Field(description="When it became true")


class ScheduleRecord(Record):
    """A schedule. Times are `YYYY-MM-DD HH:MM` in `time_zone`."""

    id: int
    name: str
    status: ScheduleStatus
    command_type: str
    command: dict[str, Any]
    macros: list[dict[str, str]] = Field(default_factory=list)
    start_time: str | None = None
    end_time: str | None = None
    frequency: int | None = None
    time_unit: str | None = None
    cron_expression: str | None = None
    time_zone: str = "UTC"
    time_out: int | None = None
    command_timeout: str | int | None = None
    concurrency: int = 1
    no_catch_up: bool = False
    label: str | None = None
    dependency_info: dict[str, Any] = Field(default_factory=dict)
    incremental: dict[str, Any] = Field(default_factory=dict)
    next_materialized_time: str | None = None
    user_id: int | None = None
    template: str | None = None
    pool: str | None = None
    can_notify: bool | None = None
    is_digest: bool | None = None
    digest_time_hour: int | None = None
    digest_time_minute: int | None = None
    email_list: str | None = None
    bitmap: int | None = None
    retry: int | None = None
    retry_delay: int | None = None
    created_at: str | None = None
    # Extensions that another service may lack.
    has_label: bool | None = Field(
        default=None,
        description="Whether a label was given; without one `label` says default, and a note runs on its own cluster",
    )
    tags: str | None = None
    notification: dict[str, Any] | None = None
    due_by: str | None = Field(default=None, description="HH:MM in `time_zone`: a run that ends later is reported")
    longer_than: float | None = Field(
        default=None, description="A run that takes this many times the median of the last 30 is reported"
    )
    alerts: list[RunAlert] | None = Field(default=None, description="Its runs under way that are late or take long")
    description: str | None = Field(default=None, description="When it runs, in words")
    last_action: LastAction | None = Field(default=None, description="Its newest action; only in lists")


class ScheduleList(Record):
    """One page of schedules, newest first."""

    schedules: list[ScheduleRecord]
    paging_info: PagingInfo


class StateChanged(Record):
    """What became of a request to suspend, resume or kill; `succeeded` is a text."""

    succeeded: str
    status: ScheduleStatus


class PreviewRequest(_ScheduleFields):
    """Body of `POST scheduler/preview_macro`: what a creation holds, checked as there, as far as it is given.

    With a timetable the next nominal times are shown.
    """

    nominal_time: str | None = Field(default=None, max_length=40)
    times: int = Field(default=5, ge=1, le=200, description="How many of the next nominal times to show")


class Preview(Record):
    """A command with its macros put in, and their values.

    With a timetable in the request also when it runs, in words and as the next nominal times (ISO 8601 UTC).
    """

    command: dict[str, Any]
    macros: dict[str, Any]
    description: str | None = None
    next_times: list[str] | None = None


class Dependencies(Record):
    """What an action waited for: paths and partitions."""

    found: list[str] = Field(default_factory=list)
    not_found: list[str] = Field(default_factory=list)


class ActionRecord(Record):
    """One nominal time of a schedule, or a rerun of it.

    `status` is `submitted`, `waiting` (for dependencies), `not_found`, `cancelled`, or, once there is a command, its
    status. `nominal_time` is ISO 8601 UTC.
    """

    id: int
    periodic_job_id: int
    sequence_id: int
    nominal_time: str
    rerun_number: int = 0
    is_rerun_of: int | None = None
    done: bool
    status: str
    query_hist_id: int | None = None
    dependencies: Dependencies = Field(default_factory=Dependencies)
    command: CommandRecord | None = Field(default=None, description="Its command, once there is one")
    created_at: str
    # An extension that another service may lack.
    message: str | None = None


class ActionList(Record):
    """One page of actions, newest first."""

    actions: list[ActionRecord]
    paging_info: PagingInfo


class InstanceList(Record):
    """The commands of a schedule's actions, newest first."""

    commands: list[CommandRecord]
    paging_info: PagingInfo | None = None


class ActionKilled(Record):
    """Whether an action could be ended; a text."""

    kill_succeeded: str


class Rescheduled(Record):
    """A rerun was accepted; `action` (an extension) is its record."""

    status: str = "rescheduled"
    action: ActionRecord | None = None
