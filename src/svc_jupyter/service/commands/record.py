"""Converts a row of the commands table to the record of the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.ground.clock import exact_time, iso_time


@dataclass(frozen=True, slots=True)
class Live:
    """The state of a running command that only its replica knows."""

    pid: int | None = None
    progress: int = 0
    rows: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a waiting command cannot start; empty where it is about to start."""

    reason: str | None = None
    is_throttled: bool = False
    """Whether it waits for a free slot."""


NO_WAIT = Wait()


def command_path(row: CommandRow) -> str:
    """Return the command's working path `/tmp/<date>/<account_id>/<id>`."""
    day = datetime.fromtimestamp(row.created_at, UTC).strftime("%Y-%m-%d")
    return f"/tmp/{day}/{row.account_id}/{row.id}"  # noqa: S108  a name in the contract, not a folder of ours


def command_record(
    row: CommandRow, *, live: Live | None = None, wait: Wait = NO_WAIT, with_properties: bool = False
) -> dict[str, Any]:
    """Return the record of a command; `wait` applies to waiting ones, `live` to those that have not ended."""
    now = Live() if live is None or row.is_final else live
    record: dict[str, Any] = {
        "id": row.id,
        "path": command_path(row),
        "status": row.status,
        "created_at": iso_time(row.created_at),
        "submit_time": int(row.created_at),
        "start_time": _seconds(row.start_time),
        "end_time": _seconds(row.end_time),
        "command_type": row.command_type,
        "progress": max(row.progress, now.progress),
        "service_session_id": None,
        "qlog": _qlog(row),
        "resolved_macros": row.resolved_macros,
        "pid": row.pid or now.pid,
        "template": "generic",
        "can_notify": row.can_notify,
        "num_result_dir": -1 if row.result is None else 0,
        "pool": row.pool,
        "timeout": row.timeout,
        "name": row.name,
        "label": row.label,
        "command_source": row.command_source,
        "account_id": row.account_id,
        "user_id": row.user_id,
        "meta_data": {
            "results_resource": f"commands/{row.id}/results",
            "logs_resource": f"commands/{row.id}/logs",
        },
        "command": public(row.command),
        "nominal_time": row.nominal_time,
        "sequence_id": row.sequence_id,
        "saved_query_mutable_id": None,
        "uid": None,
        "perms": None,
        "instance": None,
        "notebook": row.notebook,
        "submitted_at": exact_time(row.created_at),
        "started_at": exact_time(row.start_time),
        "ended_at": exact_time(row.end_time),
        "throttled": wait.is_throttled,
        "attempts": row.attempts or [],
        "message": wait.reason or row.message or now.message,
        "retry": row.retry,
        "retry_delay": row.retry_delay,
        "result_rows": row.result_rows if row.result_rows is not None else now.rows,
        "result_bytes": row.result["size"] if row.result else None,
        "outputs": row.outputs,
        "parent_id": row.parent_id,
        "child_number": row.child_number,
    }
    if with_properties:
        record |= {"tags": row.tags, "comments": None}
    return record


def public(command: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the public part of a `command`: without the keys that begin with `_`, which are its kind's own."""
    if not any(key.startswith("_") or key == "sub_commands" for key in command):
        return command
    shown = {key: value for key, value in command.items() if not key.startswith("_")}
    if isinstance(shown.get("sub_commands"), list):
        shown["sub_commands"] = [public(one) for one in shown["sub_commands"]]
    return shown


def _seconds(value: float | None) -> int | None:
    return None if value is None else int(value)


def _qlog(row: CommandRow) -> str | None:
    """Return the names and types of a typed result's columns as the JSON string that clients expect."""
    result = row.result
    if not result or result.get("columns") is None:
        return None
    columns = [{"ColumnName": name, "ColumnType": kind} for name, kind in result["columns"]]
    return json.dumps({"QUERY-SCHEMA": {"-1": columns}, "messages": result.get("notes", [])})
