"""Records of schedules and actions, and lists of schedules, by page or complete, each with its newest action."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.states import ScheduleStatus
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.listing import readable
from svc_jupyter.service.access.permissions import Resource
from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.record import public
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.http.responses import as_json
from svc_jupyter.service.notifications.notifications import Notifications
from svc_jupyter.service.schedules.times import wall_clock
from svc_jupyter.service.schedules.timetable import timetable_of
from svc_jupyter.service.schema.commands import commands
from svc_jupyter.service.schema.schedules import Action, Schedule, actions, schedules

_NOTIFICATION = ("is_digest", "digest_time_hour", "digest_time_minute", "notify_failure", "notify_success")
Records = list[dict[str, Any]]
SHORTEST_NAME_PART = 3
_PIECE = 200
"""Records in memory at once in a complete list."""
_recipients_by = attrgetter("user_id", "can_notify", "notify_failure", "notify_success")
_NEWEST_ID = sa.select(sa.func.max(actions.c.id)).where(actions.c.schedule_id == schedules.c.id).scalar_subquery()
"""Reads the end of an index once per schedule, however many actions it had."""
_COLUMNS = (
    actions.c.id,
    actions.c.schedule_id,
    actions.c.sequence_id,
    actions.c.nominal_time,
    actions.c.done,
    actions.c.status,
    actions.c.message,
    actions.c.command_id,
    commands.c.status.label("command_status"),
    commands.c.message.label("command_message"),
)


def schedule_record(
    row: Schedule, *, email_list: str, alerts: Sequence[Mapping[str, Any]], is_new: bool = False
) -> dict[str, Any]:
    """Return the record of a schedule; `alerts` are those of its runs under way.

    In the answer to its creation `command_timeout` is a text, as clients expect.
    """
    zone = row.time_zone
    timeout = row.command_timeout
    return {
        "id": row.id,
        "name": row.shown_name,
        "status": row.status,
        "command_type": row.command_type,
        "command": public(row.command),
        "macros": row.macros or [],
        "start_time": wall_clock(row.start_time, zone),
        "end_time": wall_clock(row.end_time, zone),
        "frequency": row.frequency,
        "time_unit": row.time_unit,
        "cron_expression": row.cron_expression,
        "time_zone": zone,
        "time_out": row.time_out,
        "command_timeout": str(timeout) if is_new else timeout,
        "concurrency": row.concurrency,
        "no_catch_up": row.no_catch_up,
        "label": row.label or DEFAULT_LABEL,
        "has_label": bool(row.label),
        "dependency_info": _dependency_info(row),
        "incremental": {},
        "next_materialized_time": wall_clock(row.next_nominal, zone),
        "user_id": row.user_id,
        "template": "generic",
        "pool": row.pool,
        "can_notify": row.can_notify,
        "is_digest": row.is_digest,
        "digest_time_hour": row.digest_time_hour,
        "digest_time_minute": row.digest_time_minute,
        "email_list": email_list,
        "bitmap": int(row.notify_failure) + 2 * int(row.notify_success),
        "retry": row.retry,
        "retry_delay": row.retry_delay,
        "created_at": iso_time(row.created_at),
        "tags": row.tags,
        "notification": {key: getattr(row, key) for key in _NOTIFICATION}
        | {"notification_channels": row.notification_channels or []},
        "due_by": row.due_by,
        "longer_than": row.longer_than,
        "alerts": alerts,
        "description": timetable_of(row).explain(),
    }


def _dependency_info(row: Schedule) -> dict[str, Any]:
    """Return the dependencies; a Hive table always has the fields of a view, empty where not set."""
    info: dict[str, Any] = row.dependency_info or {}
    if not info.get("hive_tables"):
        return info
    usual = {"initial_instance": "", "time_zone": row.time_zone}
    return {**info, "hive_tables": [usual | table for table in info["hive_tables"]]}


def action_record(row: Action, command: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the record of an action; `command` is the record of its command, None without one."""
    return {
        "id": row.id,
        "periodic_job_id": row.schedule_id,
        "sequence_id": row.sequence_id,
        "nominal_time": iso_time(row.nominal_time),
        "rerun_number": row.rerun_number,
        "is_rerun_of": row.is_rerun_of,
        "done": row.done,
        "status": row.status if command is None else command["status"],
        "query_hist_id": row.command_id,
        "dependencies": row.dependencies or {"found": [], "not_found": []},
        "command": command,
        "created_at": iso_time(row.created_at),
        "message": row.message or (None if command is None else command["message"]),
    }


@dataclass(frozen=True, slots=True)
class ScheduleFilter:
    """The listed schedules: those with `name` in their name and those in a `status`. Raises `Invalid`."""

    name: str | None = None
    status: ScheduleStatus | None = None

    def __post_init__(self) -> None:
        if self.name is not None and len(self.name) < SHORTEST_NAME_PART:
            raise Invalid(f"name: give at least {SHORTEST_NAME_PART} characters of it")

    def query(self, by: Caller) -> sa.Select[Any]:
        """Return the rows of the caller's account that they may read, newest first. Raises `Forbidden` without any."""
        query = sa.select(schedules).where(
            schedules.c.account_id == by.account_id, readable(by, Resource.SCHEDULER, schedules.c.id)
        )
        query = query.order_by(schedules.c.id.desc())
        if self.name is not None:
            # The name of an unnamed schedule is its id.
            name = sa.func.coalesce(schedules.c.name, sa.cast(schedules.c.id, sa.String))
            query = query.where(sa.func.lower(name).contains(self.name.lower(), autoescape=True))
        return query if self.status is None else query.where(schedules.c.status == self.status)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some records of a long list as JSON, without its brackets; `last_id` is set when more may follow."""

    text: bytes
    count: int
    last_id: int | None


class Listing:
    """Lists the schedules of an account, newest first."""

    def __init__(self, database: Database, notifications: Notifications) -> None:
        self._database = database
        self._notifications = notifications

    async def page(self, wanted: ScheduleFilter, page: Page, *, by: Caller) -> tuple[Records, Any]:
        """Return a page of records, and its position."""
        return await self._database.read(partial(self._select, wanted, page, by))

    async def all(self, wanted: ScheduleFilter, *, by: Caller) -> AsyncIterator[bytes]:
        """Return the JSON of the list of all schedules in pieces, since it may be long."""
        first = await self._database.read(partial(self._piece, wanted, by, None))
        return self._pieces(wanted, by, first)

    async def _pieces(self, wanted: ScheduleFilter, by: Caller, piece: _Piece) -> AsyncIterator[bytes]:
        yield b'{"schedules":[' + piece.text
        count = piece.count
        while piece.last_id is not None:
            piece = await self._database.read(partial(self._piece, wanted, by, piece.last_id))
            count += piece.count
            yield b"," + piece.text if piece.count else b""
        yield b'],"paging_info":' + as_json(Page(1, max(1, count)).info(has_more=False)) + b"}"

    def _piece(self, wanted: ScheduleFilter, by: Caller, after: int | None, connection: sa.Connection) -> _Piece:
        """Return the records after the one with the id `after`."""
        query = wanted.query(by).limit(_PIECE)
        found = connection.execute(query if after is None else query.where(schedules.c.id < after))
        rows = [Schedule.of(row) for row in found]
        text = b",".join(as_json(record) for record in self._records(connection, rows))
        return _Piece(text, len(rows), rows[-1].id if len(rows) == _PIECE else None)

    def _select(self, wanted: ScheduleFilter, page: Page, by: Caller, connection: sa.Connection) -> tuple[Records, Any]:
        shown, info = page.read(connection, wanted.query(by))
        return self._records(connection, [Schedule.of(row) for row in shown]), info

    def _records(self, connection: sa.Connection, rows: Sequence[Schedule]) -> Records:
        """Return the records of rows; recipients are looked up once for all schedules with the same ones."""
        recipients: dict[tuple[Any, ...], str] = {}
        newest = last_actions(connection, [row.id for row in rows])
        alerts = self._notifications.open_alerts(connection, rows)
        records = []
        for row in rows:
            key = (*_recipients_by(row), *(row.notification_channels or ()))
            if key not in recipients:
                recipients[key] = ",".join(self._notifications.recipients(connection, row))
            record = schedule_record(row, email_list=recipients[key], alerts=alerts.get(row.id, []))
            records.append(record | {"last_action": newest.get(row.id)})
        return records


def last_actions(connection: sa.Connection, schedule_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the newest actions by schedule id, in the shape of `LastAction`; with one query."""
    if not schedule_ids:
        return {}
    newest = sa.select(_NEWEST_ID).where(schedules.c.id.in_(schedule_ids))
    query = (
        sa.select(*_COLUMNS)
        .outerjoin_from(actions, commands, commands.c.id == actions.c.command_id)
        .where(actions.c.id.in_(newest))
    )
    return {row.schedule_id: _last_action(row) for row in connection.execute(query)}


def _last_action(found: sa.Row[*tuple[Any, ...]]) -> dict[str, Any]:
    return {
        "id": found.id,
        "sequence_id": found.sequence_id,
        "nominal_time": iso_time(found.nominal_time),
        "done": found.done,
        "status": found.command_status or found.status,
        "query_hist_id": found.command_id,
        "message": found.message or found.command_message,
    }
