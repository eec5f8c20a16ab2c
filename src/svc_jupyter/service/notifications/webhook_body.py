"""The body posted to a webhook: JSON of one stable shape for each event (docs/notifications.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.notifications.events import EventKind
from svc_jupyter.service.notifications.plain_text import one_line
from svc_jupyter.service.notifications.schedule_rendering import action_links, schedule_links, title_of

DIGEST_EVENT = "schedule.digest"
PIPELINE_EVENT = "pipeline.failure"
_NAME_LIMIT = 200


def webhook_body(content: Mapping[str, Any], *, delivery_id: str, public_url: str | None) -> dict[str, Any]:
    """Return the body for an action, a digest's actions, or a failed run of a pipeline.

    Times are ISO 8601 UTC.
    """
    if content["kind"] == EventKind.COMMAND:
        return _pipeline_failure(content, delivery_id, public_url)
    schedule = content["schedule"]
    about = {
        "delivery_id": delivery_id,
        "text": title_of(content),
        "schedule_id": schedule["id"],
        "name": schedule["name"],
        "time_zone": schedule["time_zone"],
    }
    if content["kind"] == EventKind.ACTION:
        action = content["action"]
        event = {"event": f"schedule.{action['outcome']}"}
        return event | about | _action(action) | {"links": action_links(content, public_url)}
    return (
        {"event": DIGEST_EVENT}
        | about
        | {
            "due_at": iso_time(content["due_at"]),
            "failures": content["failures"],
            "successes": content["successes"],
            "actions": [_action(action) for action in content["actions"]],
            "links": schedule_links(schedule["id"], public_url),
        }
    )


def _pipeline_failure(content: Mapping[str, Any], delivery_id: str, public_url: str | None) -> dict[str, Any]:
    pipeline, command_id = content["pipeline"], content["id"]
    links = {}
    if public_url:
        base = public_url.rstrip("/")
        links["pipeline"] = base + paths.api(f"pipelines/{pipeline['id']}")
        links["command"] = base + paths.command(command_id)
        links["log"] = base + paths.command(command_id, "logs")
    return {
        "event": PIPELINE_EVENT,
        "delivery_id": delivery_id,
        "text": f"Pipeline {one_line(pipeline['name'], _NAME_LIMIT)} failed",
        "pipeline_id": pipeline["id"],
        "name": pipeline["name"],
        "status": content["status"],
        "message": content["message"],
        "command_id": command_id,
        "ended_at": iso_time(content["end_time"]),
        "links": links,
    }


def _action(action: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "action_id": action["id"],
        "sequence_id": action["sequence_id"],
        "nominal_time": iso_time(action["nominal_time"]),
        "status": action["status"],
        "message": action["message"],
        "command_id": action["command_id"],
        "not_found": action["not_found"],
        "ended_at": None if action["ended_at"] is None else iso_time(action["ended_at"]),
    }
