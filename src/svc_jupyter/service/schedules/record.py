"""Converts rows to the records of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.service.clusters.gate import DEFAULT_LABEL
from svc_jupyter.service.commands.record import public
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.schedules.times import wall_clock
from svc_jupyter.service.schedules.timetable import timetable_of
from svc_jupyter.service.schema.schedules import Action, Schedule

_NOTIFICATION = ("is_digest", "digest_time_hour", "digest_time_minute", "notify_failure", "notify_success")


def schedule_record(row: Schedule, *, email_list: str, is_new: bool = False) -> dict[str, Any]:
    """Return the record of a schedule; in the answer to its creation `command_timeout` is a text, as clients expect."""
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
