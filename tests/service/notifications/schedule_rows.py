"""Rows of the tables of schedules and actions."""

from __future__ import annotations

from typing import Any

from tests.service.notifications.clocks import NOON

from svc_jupyter.service.schema.schedules import Action, Schedule, actions, schedules


def schedule_row(**values: Any) -> Schedule:
    """Return a daily schedule in Paris; it tells nobody anything unless asked to."""
    row = {
        "id": 5,
        "account_id": 1,
        "user_id": 1,
        "name": "Daily sales",
        "status": "RUNNING",
        "created_at": NOON,
        "command_type": "ShellCommand",
        "command": {"inline": "echo password=geheim"},
        "start_time": NOON,
        "time_zone": "Europe/Paris",
        "frequency": 1,
        "time_unit": "days",
        "concurrency": 1,
        "no_catch_up": False,
        "time_out": 600,
        "command_timeout": 129_600,
        "retry": 0,
        "retry_delay": 1,
        "can_notify": False,
        "is_digest": False,
        "digest_time_hour": 0,
        "digest_time_minute": 0,
        "notify_failure": False,
        "notify_success": False,
        "last_sequence": 0,
    } | values
    return Schedule(**dict.fromkeys(schedules.c.keys()) | row)


def action_row(**values: Any) -> Action:
    """Return an action that failed a minute ago."""
    row = {
        "id": 33,
        "account_id": 1,
        "schedule_id": 5,
        "sequence_id": 4,
        "nominal_time": NOON,
        "status": "error",
        "message": "exit code 7",
        "command_id": 17,
        "done": True,
        "rerun_number": 0,
        "created_at": NOON,
        "ended_at": NOON + 60,
    } | values
    return Action(**dict.fromkeys(actions.c.keys()) | row)
