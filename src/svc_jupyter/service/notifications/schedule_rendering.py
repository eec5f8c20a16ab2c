"""Texts of messages about a schedule's runs: pure functions of an event's content. Times are in the schedule's zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.states import ActionStatus, CommandStatus
from svc_jupyter.service.notifications.layout import Block, Fact, Facts, Lines, Links, Notice, laid_out
from svc_jupyter.service.notifications.outcomes import Outcome
from svc_jupyter.service.notifications.plain_text import one_line, paragraph
from svc_jupyter.service.notifications.quantities import count_text, moment_in, zone_text

Row = Mapping[str, Any]
_NAME_LIMIT = 150
_KEY_LIMIT = 300
_REASON_LIMIT = 4000
_DIGEST_REASON_LIMIT = 200
_BECAME = {
    CommandStatus.DONE.value: "is done",
    CommandStatus.ERROR.value: "failed",
    ActionStatus.NOT_FOUND.value: "did not run: its dependencies were not found",
}


def title_of(content: Row) -> str:
    """Return on one line the outcome of an action, or of a digest's actions, without the time."""
    name = _name(content["schedule"])
    if "action" in content:
        return f"{name} {_BECAME[content['action']['status']]}"
    counts = [
        f"{content[key]:,} {word}" for key, word in (("failures", "failed"), ("successes", "done")) if content[key]
    ]
    return f"{name}: {', '.join(counts)}"


def action_ended(content: Row, *, public_url: str | None) -> Notice:
    """Describe the end of an action, with the reason of a failure first."""
    schedule, action = content["schedule"], content["action"]
    zone = schedule["time_zone"]
    moment = moment_in(action["nominal_time"], zone)
    blocks: list[Block] = []
    if action["outcome"] == Outcome.FAILURE:
        blocks.append(Lines("Reason", _reason(action, _REASON_LIMIT)))
    if action["not_found"]:
        blocks.append(Lines("Not found", _missing(action)))
    blocks.append(Facts(_facts(schedule, action)))
    blocks.append(Lines("In a notebook", _magics(schedule, action)))
    if links := action_links(content, public_url):
        blocks.append(Links([(label.capitalize(), link) for label, link in links.items()]))
    title = title_of(content)
    return laid_out(f"[svc-jupyter] {title} ({moment})", f"{title} ({zone_text(moment, zone)})", blocks)


def digest(content: Row, *, public_url: str | None) -> Notice:
    """Describe a digest's actions, failures first."""
    schedule, actions = content["schedule"], content["actions"]
    zone = schedule["time_zone"]
    moment = moment_in(content["due_at"], zone)
    blocks: list[Block] = []
    for outcome, heading in ((Outcome.FAILURE, "Failed"), (Outcome.SUCCESS, "Done")):
        lines = [line for action in actions if action["outcome"] == outcome for line in _digest_lines(action, zone)]
        if lines:
            blocks.append(Lines(heading, lines))
    left_out = content["failures"] + content["successes"] - len(actions)
    if left_out:
        blocks.append(Lines("Besides", [f"{count_text(left_out, 'run')} more, which %svc_schedule actions shows"]))
    blocks.append(Facts([("Schedule", str(schedule["id"])), ("Time zone", zone)]))
    blocks.append(Lines("In a notebook", [f"%svc_schedule actions {schedule['id']}"]))
    if links := schedule_links(schedule["id"], public_url):
        blocks.append(Links([(label.capitalize(), link) for label, link in links.items()]))
    title = title_of(content)
    return laid_out(
        f"[svc-jupyter] {title} (until {moment})",
        f"{title} (until {zone_text(moment, zone)})",
        blocks,
    )


def schedule_links(schedule_id: int, public_url: str | None) -> dict[str, str]:
    """Return the links to a schedule and its actions by their names; none without the service's own address."""
    if not public_url:
        return {}
    base = public_url.rstrip("/")
    return {
        "schedule": base + paths.api(f"scheduler/{schedule_id}"),
        "actions": base + paths.api(f"scheduler/{schedule_id}/actions"),
    }


def action_links(content: Row, public_url: str | None) -> dict[str, str]:
    """Return the links to an action, its schedule, and its command if there is one."""
    schedule, action = content["schedule"], content["action"]
    links = schedule_links(schedule["id"], public_url)
    if not public_url:
        return links
    base = public_url.rstrip("/")
    links["action"] = base + paths.api(f"actions/{action['id']}")
    if action["command_id"] is not None:
        links["command"] = base + paths.command(action["command_id"])
        links["log"] = base + paths.command(action["command_id"], "logs")
    return links


def _name(schedule: Row) -> str:
    name = one_line(schedule["name"], _NAME_LIMIT)
    return f"Schedule {name}" if name == str(schedule["id"]) else name


def _facts(schedule: Row, action: Row) -> list[Fact]:
    zone = schedule["time_zone"]
    found: list[tuple[str, str | None]] = [
        ("Schedule", f"{schedule['id']} {_name(schedule)}"),
        ("Action", str(action["sequence_id"])),
        ("Nominal time", zone_text(moment_in(action["nominal_time"], zone), zone)),
        ("Status", action["status"]),
        ("Command", None if action["command_id"] is None else str(action["command_id"])),
        ("Ended", None if action["ended_at"] is None else zone_text(moment_in(action["ended_at"], zone), zone)),
    ]
    return [(label, value) for label, value in found if value is not None]


def _magics(schedule: Row, action: Row) -> list[str]:
    magics = [f"%svc_schedule actions {schedule['id']}"]
    if action["command_id"] is not None:
        magics.append(f"%svc_command {action['command_id']} logs")
    return magics


def _reason(action: Row, limit: int) -> Sequence[str]:
    if action["message"]:
        return paragraph(action["message"], limit).splitlines()
    if action["status"] == ActionStatus.NOT_FOUND:
        return ["what it depends on did not come in time"]
    return ["no reason was given"]


def _missing(action: Row) -> list[str]:
    missing = [one_line(key, _KEY_LIMIT) for key in action["not_found"]]
    left_out = action["not_found_count"] - len(missing)
    return [*missing, f"and {left_out:,} more"] if left_out else missing


def _digest_lines(action: Row, zone: str) -> list[str]:
    moment = moment_in(action["nominal_time"], zone)
    command = "" if action["command_id"] is None else f"  command {action['command_id']}"
    if action["outcome"] == Outcome.SUCCESS:
        return [f"{moment}{command}"]
    reason = one_line(" ".join(_reason(action, _DIGEST_REASON_LIMIT)), _DIGEST_REASON_LIMIT)
    return [f"{moment}{command}  {reason}", *(f"    not found: {key}" for key in _missing(action))]
