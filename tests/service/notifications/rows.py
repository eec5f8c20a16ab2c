"""Rows of the commands table."""

from __future__ import annotations

from typing import Any

from tests.service.notifications.clocks import NOON


def row_of(**values: Any) -> dict[str, Any]:
    """Return a row of the commands table without its id."""
    return {
        "account_id": 1,
        "user_id": 1,
        "command_type": "ShellCommand",
        "command_source": "API",
        "status": "done",
        "command": {"inline": "echo password=geheim"},
        "created_at": NOON,
        "folder_key": "0a1b",
        "start_time": NOON + 2,
        "end_time": NOON + 65,
        "name": None,
        "tags": None,
        "label": None,
        "can_notify": True,
        "message": None,
        "attempts": None,
        "result": None,
        "result_rows": None,
    } | values
