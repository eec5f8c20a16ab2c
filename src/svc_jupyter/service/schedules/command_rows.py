"""Builds the row of a command from a schedule and one of its actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api.commands import CommandSource
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.schedules.rows import Row


def command_row(schedule: Row, action: Row, resolved: Sequence[Mapping[str, Any]] | None, now: float) -> dict[str, Any]:
    """Return the values of the command's row; `resolved` has the macros with their values, None without macros."""
    return {
        "account_id": schedule["account_id"],
        "user_id": schedule["user_id"],
        "edited_by": schedule["edited_by"],
        "command_type": schedule["command_type"],
        "command_source": CommandSource.SCHEDULED.value,
        "command": schedule["command"],
        "created_at": now,
        "name": schedule["name"],
        "tags": schedule["tags"],
        "label": schedule["label"],
        "pool": schedule["pool"],
        "timeout": schedule["command_timeout"],
        "retry": schedule["retry"],
        "retry_delay": schedule["retry_delay"],
        "can_notify": False,  # the schedule's own notifications report it
        "resolved_macros": list(resolved) if resolved else None,
        "nominal_time": iso_time(action["nominal_time"]),
        "sequence_id": action["sequence_id"],
    }
