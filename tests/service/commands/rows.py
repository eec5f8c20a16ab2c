"""Rows of the commands table for tests."""

from __future__ import annotations

import time
from typing import Any

from svc_jupyter.service.schema.commands import NEW_ROW


def command_row(**values: Any) -> dict[str, Any]:
    """Return a row of the commands table: a shell command that waits, but for `values`."""
    return {
        **NEW_ROW,
        "id": 1,
        "account_id": 1,
        "user_id": 1,
        "command_type": "ShellCommand",
        "command_source": "API",
        "status": "waiting",
        "command": {"inline": "true"},
        "created_at": time.time(),
        "folder_key": "0a1b",
        **values,
    }
