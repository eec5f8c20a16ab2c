"""Texts of messages about commands, and the choice of a message's text: pure functions of an event's content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.durations import duration
from svc_jupyter.service.notifications.events import EventKind
from svc_jupyter.service.notifications.layout import Block, Fact, Facts, Lines, Links, Notice, laid_out
from svc_jupyter.service.notifications.plain_text import one_line, paragraph
from svc_jupyter.service.notifications.quantities import moment_utc, size_text
from svc_jupyter.service.notifications.schedule_rendering import action_ended, digest

Row = Mapping[str, Any]
_TITLE_LIMIT = 150
_VALUE_LIMIT = 255
_REASON_LIMIT = 4000
_BECAME = {
    CommandStatus.DONE: "is done",
    CommandStatus.ERROR: "failed",
    CommandStatus.CANCELLED: "was cancelled",
}


def notice_of(content: Row, *, public_url: str | None) -> Notice:
    """Return the message for an event's content.

    `public_url` is the service's address for its users; without it there are no links.
    """
    tell = {
        EventKind.COMMAND: command_ended,
        EventKind.ACTION: action_ended,
        EventKind.DIGEST: digest,
    }[EventKind(content["kind"])]
    return tell(content, public_url=public_url)


def command_ended(row: Row, *, public_url: str | None) -> Notice:
    """Describe the end of a command, or of the pipeline whose run it was.

    The command's own text is omitted: it may hold passwords, and many can read mail.
    """
    title = one_line(f"{_title(row)} {_BECAME[CommandStatus(row['status'])]}", _TITLE_LIMIT + 20)
    blocks: list[Block] = [Facts([*_pipeline_facts(row), *_facts(row)])]
    if row["status"] != CommandStatus.DONE:
        reason = paragraph(row["message"] or "no reason was given", _REASON_LIMIT)
        blocks.append(Lines("Reason", reason.splitlines()))
    blocks.append(Lines("In a notebook", _magics(row)))
    if links := _links(row, public_url):
        blocks.append(Links(links))
    return laid_out(f"[svc-jupyter] {title} (command {row['id']})", title, blocks)


def _title(row: Row) -> str:
    if "pipeline" in row:
        return f"Pipeline {one_line(row['pipeline']['name'], _TITLE_LIMIT)}"
    return one_line(row["name"] or "", _TITLE_LIMIT) or str(row["command_type"])


def _magics(row: Row) -> list[str]:
    parts = ("logs", "result") if row["status"] == CommandStatus.DONE else ("logs",)
    again = [f"%svc_pipeline start {row['pipeline']['id']}"] if "pipeline" in row else []
    return [*(f"%svc_command {row['id']} {part}" for part in parts), *again]


def _pipeline_facts(row: Row) -> list[Fact]:
    return [("Pipeline", str(row["pipeline"]["id"]))] if "pipeline" in row else []


def _facts(row: Row) -> list[Fact]:
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
        ("Duration", None if start is None or end is None else duration(end - start)),
        ("Attempts", str(attempts) if attempts > 1 else None),
        ("Result", _result(row)),
    ]
    return [(label, one_line(value, _VALUE_LIMIT)) for label, value in found if value]


def _result(row: Row) -> str | None:
    if row["result"] is None:
        return None
    size = size_text(row["result"]["size"])
    return size if row["result_rows"] is None else f"{row['result_rows']:,} rows, {size}"


def _links(row: Row, public_url: str | None) -> list[Fact]:
    if not public_url:
        return []
    base = public_url.rstrip("/")
    links = [("Command", base + paths.command(row["id"])), ("Log", base + paths.command(row["id"], "logs"))]
    if "pipeline" in row:
        links.insert(0, ("Pipeline", base + paths.api(f"pipelines/{row['pipeline']['id']}")))
    if row["status"] == CommandStatus.DONE:
        links.append(("Result", base + paths.command(row["id"], "results")))
    return links
