"""Texts of messages about commands and schedules: pure functions of an event's content.

Times in messages about a schedule are in the schedule's zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.states import ActionStatus, CommandStatus
from svc_jupyter.durations import elapsed
from svc_jupyter.service.notifications.audience import Outcome
from svc_jupyter.service.notifications.events import Alert, EventKind
from svc_jupyter.service.notifications.layout import Block, Fact, Facts, Lines, Links, Notice, laid_out
from svc_jupyter.service.notifications.texts import (
    count_text,
    moment_in,
    moment_utc,
    one_line,
    paragraph,
    zone_text,
)
from svc_jupyter.sizes import readable_size

Row = Mapping[str, Any]
_TITLE_LIMIT = 150
_VALUE_LIMIT = 255
_REASON_LIMIT = 4000
_KEY_LIMIT = 300
_DIGEST_REASON_LIMIT = 200
_BECAME: Mapping[str, str] = {
    CommandStatus.DONE: "is done",
    CommandStatus.ERROR: "failed",
    CommandStatus.CANCELLED: "was cancelled",
    ActionStatus.NOT_FOUND: "did not run: its dependencies were not found",
}


def notice_of(content: Row, *, public_url: str | None) -> Notice:
    """Return the message for an event's content.

    `public_url` is the service's address for its users; without it there are no links.
    """
    tell = {
        EventKind.COMMAND: command_ended,
        EventKind.ACTION: action_ended,
        EventKind.DIGEST: digest,
        EventKind.ALERT: alert,
    }[EventKind(content["kind"])]
    return tell(content, public_url=public_url)


def command_ended(row: Row, *, public_url: str | None) -> Notice:
    """Describe the end of a command, or of the pipeline whose run it was.

    The command's own text is omitted: it may hold passwords, and many can read mail.
    """
    title = one_line(f"{_title(row)} {_BECAME[row['status']]}", _TITLE_LIMIT + 20)
    blocks: list[Block] = [Facts([*_pipeline_facts(row), *_command_facts(row)])]
    if row["status"] != CommandStatus.DONE:
        reason = paragraph(row["message"] or "no reason was given", _REASON_LIMIT)
        blocks.append(Lines("Reason", reason.splitlines()))
    blocks.append(Lines("In a notebook", _command_magics(row)))
    blocks += _links(command_links(row, public_url))
    return laid_out(f"[svc-jupyter] {title} (command {row['id']})", title, blocks)


def _title(row: Row) -> str:
    if "pipeline" in row:
        return f"Pipeline {one_line(row['pipeline']['name'], _TITLE_LIMIT)}"
    return one_line(row["name"] or "", _TITLE_LIMIT) or str(row["command_type"])


def _command_magics(row: Row) -> list[str]:
    parts = ("logs", "result") if row["status"] == CommandStatus.DONE else ("logs",)
    again = [f"%svc_pipeline start {row['pipeline']['id']}"] if "pipeline" in row else []
    return [*(f"%svc_command {row['id']} {part}" for part in parts), *again]


def _pipeline_facts(row: Row) -> list[Fact]:
    return [("Pipeline", str(row["pipeline"]["id"]))] if "pipeline" in row else []


def _command_facts(row: Row) -> list[Fact]:
    start, end = row["start_time"], row["end_time"]
    attempts = len(row["attempts"] or ())
    found: list[tuple[str, str | None]] = [
        ("Command", str(row["id"])),
        ("Name", row["name"]),
        ("Type", row["command_type"]),
        ("Status", row["status"]),
        ("Tags", row["tags"]),
        ("Cluster label", row["label"]),
        ("Submitted", moment_utc(row["created_at"])),
        ("Started", "never" if start is None else moment_utc(start)),
        ("Ended", None if end is None else moment_utc(end)),
        ("Duration", None if start is None or end is None else elapsed(end - start)),
        ("Attempts", str(attempts) if attempts > 1 else None),
        ("Result", _result(row)),
    ]
    return [(label, one_line(value, _VALUE_LIMIT)) for label, value in found if value]


def _result(row: Row) -> str | None:
    if row["result"] is None:
        return None
    size = readable_size(row["result"]["size"])
    return size if row["result_rows"] is None else f"{row['result_rows']:,} rows, {size}"


def command_links(row: Row, public_url: str | None) -> dict[str, str]:
    """Return the links to a command, and to the pipeline whose run it was; none without the service's own address."""
    if not public_url:
        return {}
    base = public_url.rstrip("/")
    links = {"command": base + paths.command(row["id"]), "log": base + paths.command(row["id"], "logs")}
    if row["status"] == CommandStatus.DONE:
        links["result"] = base + paths.command(row["id"], "results")
    if "pipeline" in row:
        links = {"pipeline": base + paths.api(f"pipelines/{row['pipeline']['id']}")} | links
    return links


def _links(links: Mapping[str, str]) -> list[Block]:
    return [Links([(label.capitalize(), link) for label, link in links.items()])] if links else []


def title_of(content: Row) -> str:
    """Return on one line the outcome of an action, or of a digest's actions, without the time; or an alert."""
    name = _name(content["schedule"])
    if content["kind"] == EventKind.ALERT:
        return f"{name} {_alert_words(content)}"
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
    blocks.append(Facts(_action_facts(schedule, action)))
    blocks.append(Lines("In a notebook", _action_magics(schedule, action)))
    blocks += _links(action_links(content, public_url))
    title = title_of(content)
    return laid_out(f"[svc-jupyter] {title} ({moment})", f"{title} ({zone_text(moment, zone)})", blocks)


def alert(content: Row, *, public_url: str | None) -> Notice:
    """Describe a run that is late, or takes longer than usual."""
    schedule, action = content["schedule"], content["action"]
    zone = schedule["time_zone"]
    moment = moment_in(action["nominal_time"], zone)
    blocks: list[Block] = [
        Facts([*_action_facts(schedule, action), *_alert_facts(content, zone)]),
        Lines("In a notebook", _action_magics(schedule, action)),
        *_links(action_links(content, public_url)),
    ]
    title = title_of(content)
    return laid_out(f"[svc-jupyter] {title} ({moment})", f"{title} ({zone_text(moment, zone)})", blocks)


def _alert_words(content: Row) -> str:
    action = content["action"]
    is_over = action["ended_at"] is not None
    if content["alert"] == Alert.LONG:
        return "took longer than usual" if is_over else "takes longer than usual"
    due = moment_in(content["due_at"], content["schedule"]["time_zone"])
    if is_over:
        return f"was late: due by {due}"
    return f"is late: {'not started' if action['started_at'] is None else 'still running'}, due by {due}"


def _alert_facts(content: Row, zone: str) -> list[Fact]:
    started_at = content["action"]["started_at"]
    never = "not yet" if content["action"]["ended_at"] is None else "never"
    found: list[Fact] = [("Started", never if started_at is None else zone_text(moment_in(started_at, zone), zone))]
    if content["alert"] == Alert.LATE:
        return [*found, ("Due by", zone_text(moment_in(content["due_at"], zone), zone))]
    usual, times = content["median"], content["longer_than"]
    limit = f"{elapsed(times * usual)}, {times:g} times the usual"
    return [
        *found,
        ("Usual", f"{elapsed(usual)}, the median of the last runs that are done"),
        ("Reported after", limit),
    ]


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
    blocks += _links(schedule_links(schedule["id"], public_url))
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
    name = one_line(schedule["name"], _TITLE_LIMIT)
    return f"Schedule {name}" if name == str(schedule["id"]) else name


def _action_facts(schedule: Row, action: Row) -> list[Fact]:
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


def _action_magics(schedule: Row, action: Row) -> list[str]:
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
