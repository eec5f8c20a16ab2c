"""The events of notifications: each has a key, so that it is sent once, and the facts at its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from svc_jupyter.service.notifications.audience import Outcome
from svc_jupyter.service.schema.schedules import Action, Schedule

Row = Mapping[str, Any]
_COMMAND_FACTS = (
    *("id", "name", "command_type", "status", "tags", "label", "created_at", "start_time", "end_time"),
    *("message", "attempts", "result", "result_rows"),
)
"""Without the command's text, which may hold passwords."""
_ACTION_FACTS = ("id", "sequence_id", "nominal_time", "status", "message", "command_id", "ended_at")
_MESSAGE_LIMIT = 10_000
_NOT_FOUND_LIMIT = 50
_DIGEST_ACTIONS = 200
"""A digest lists at most this many one by one and counts the others."""
_DIGEST_MESSAGE_LIMIT = 300
_DIGEST_NOT_FOUND = 5


class EventKind(StrEnum):
    """The kind of a message; stored in its content as `kind`."""

    COMMAND = "command"
    ACTION = "action"
    DIGEST = "digest"
    ALERT = "alert"


class Alert(StrEnum):
    """What a run is reported for while it has not ended; stored in the content of its message as `alert`."""

    LATE = "late"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class Event:
    """`key` names the event; `content` is JSON."""

    key: str
    content: dict[str, Any]


def command_event(row: Row) -> Event:
    """Return the end of the command of a row."""
    content = {"kind": EventKind.COMMAND.value} | {name: row[name] for name in _COMMAND_FACTS}
    return Event(f"command:{row['id']}", content)


def pipeline_event(pipeline: Row, command: Row) -> Event:
    """Return the failure of a pipeline's run: the end of its command, and the pipeline."""
    event = command_event(command)
    facts = {"message": _cut(command["message"], _MESSAGE_LIMIT)}
    return Event(event.key, event.content | facts | {"pipeline": {"id": pipeline["id"], "name": pipeline["name"]}})


def action_event(schedule: Schedule, action: Action, outcome: Outcome) -> Event:
    """Return the end of an action of a schedule."""
    missing = list((action.dependencies or {}).get("not_found") or ())
    facts = {name: getattr(action, name) for name in _ACTION_FACTS}
    facts["message"] = _cut(action.message, _MESSAGE_LIMIT)
    facts |= {"outcome": outcome.value, "not_found": missing[:_NOT_FOUND_LIMIT], "not_found_count": len(missing)}
    content = {"kind": EventKind.ACTION.value, "schedule": _schedule(schedule), "action": facts}
    return Event(f"action:{action.id}", content)


def late_event(schedule: Schedule, action: Action, *, due_at: float, started_at: float | None) -> Event:
    """Return that a run had not ended by its time; one for all runs of a schedule that were due at the same time."""
    content = _alert(Alert.LATE, schedule, action, started_at) | {"due_at": due_at}
    return Event(f"late:{schedule.id}:{int(due_at)}", content)


def long_event(schedule: Schedule, action: Action, *, median: float, started_at: float) -> Event:
    """Return that a run takes longer than its schedule's runs usually do; `median` is theirs in seconds."""
    content = _alert(Alert.LONG, schedule, action, started_at)
    content |= {"median": median, "longer_than": schedule.longer_than}
    return Event(f"long:{action.id}", content)


def _alert(alert: Alert, schedule: Schedule, action: Action, started_at: float | None) -> dict[str, Any]:
    facts = {name: getattr(action, name) for name in _ACTION_FACTS} | {"started_at": started_at}
    facts |= {"message": None, "not_found": []}
    return {"kind": EventKind.ALERT.value, "alert": alert.value, "schedule": _schedule(schedule), "action": facts}


def digest_event(schedule: Schedule, due_at: float, actions: Sequence[Mapping[str, Any]]) -> Event:
    """Return the digest of a schedule that is due at a moment, from the `action` parts of its collected events.

    Failures come first, each group in the order of nominal times; what exceeds a message is counted.
    """
    ordered = sorted(
        actions, key=lambda action: (action["outcome"] != Outcome.FAILURE, action["nominal_time"], action["id"])
    )
    failures = sum(action["outcome"] == Outcome.FAILURE for action in actions)
    shown = [
        {
            **action,
            "message": _cut(action["message"], _DIGEST_MESSAGE_LIMIT),
            "not_found": action["not_found"][:_DIGEST_NOT_FOUND],
        }
        for action in ordered[:_DIGEST_ACTIONS]
    ]
    content = {
        "kind": EventKind.DIGEST.value,
        "schedule": _schedule(schedule),
        "due_at": due_at,
        "failures": failures,
        "successes": len(actions) - failures,
        "actions": shown,
    }
    return Event(digest_key(schedule.id, due_at), content)


def digest_key(schedule_id: int, due_at: float) -> str:
    """Return the key of a schedule's digest that is due at a moment, as in `digest:5:2026-11-21T23:00Z`."""
    return f"digest:{schedule_id}:{datetime.fromtimestamp(int(due_at), UTC).strftime('%Y-%m-%dT%H:%M:%SZ')}"


def _schedule(schedule: Schedule) -> dict[str, Any]:
    return {
        "id": schedule.id,
        "name": schedule.shown_name,
        "time_zone": schedule.time_zone,
    }


def _cut(text: str | None, limit: int) -> str | None:
    return text if text is None or len(text) <= limit else text[: limit - 1] + "…"
