"""Rows of the commands table for tests."""

from __future__ import annotations

import time
from typing import Any

from svc_jupyter.service.commands.rows import CommandRow


def command_row(**values: Any) -> CommandRow:
    """Return a row of the commands table: a shell command that waits, but for `values`."""
    shell = {
        "id": 1,
        "account_id": 1,
        "user_id": 1,
        "command_type": "ShellCommand",
        "command_source": "API",
        "status": "waiting",
        "command": {"inline": "true"},
        "created_at": time.time(),
        "folder_key": "0a1b",
    }
    return CommandRow.new(shell | values)
