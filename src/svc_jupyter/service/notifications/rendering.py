"""What a notification says: pure functions from a row of the commands table to texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.service.notifications.plain_text import one_line, paragraph

Row = Mapping[str, Any]
Fact = tuple[str, str]
_TITLE_LIMIT = 150
_VALUE_LIMIT = 255
_REASON_LIMIT = 4000
_BECAME = {
    CommandStatus.DONE: "is done",
    CommandStatus.ERROR: "failed",
    CommandStatus.CANCELLED: "was cancelled",
}
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


@dataclass(frozen=True, slots=True)
class Notice:
    """A message in the forms a channel may need; `subject` is one line without control characters."""

    subject: str
    text: str
    html: str


def command_ended(row: Row, *, public_url: str | None) -> Notice:
    """Tell of the end of a command (SPEC: parameter `can_notify`).

    The command's own text is not told: it may hold passwords, and mail passes many hands. `public_url` is the address
    of this service for its users; without it there are no links.
    """
    title = one_line(f"{_title(row)} {_BECAME[CommandStatus(row['status'])]}", _TITLE_LIMIT + 20)
    facts = _facts(row)
    reason = (
        None
        if row["status"] == CommandStatus.DONE
        else paragraph(row["message"] or "no reason was given", _REASON_LIMIT)
    )
    magics = [f"%svc_command {row['id']} {part}" for part in _parts(row)]
    links = _links(row, public_url)
    return Notice(
        subject=f"[svc-jupyter] {title} (command {row['id']})",
        text=_as_text(title, facts, reason, magics, links),
        html=_as_html(title, facts, reason, magics, links),
    )


def duration_text(seconds: float) -> str:
    """Return a duration in its two largest units, as in `2 h 5 min`; short ones with a tenth of a second."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    left = round(seconds)
    parts = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        parts.append((count, unit))
    first = next(number for number, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count)


def size_text(size: int) -> str:
    """Return a number of bytes in decimal units, as in `4.5 MB`."""
    if size < 1000:
        return f"{size} bytes"
    value = float(size)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.95:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"


def _title(row: Row) -> str:
    return one_line(row["name"] or "", _TITLE_LIMIT) or str(row["command_type"])


def _parts(row: Row) -> tuple[str, ...]:
    return ("logs", "result") if row["status"] == CommandStatus.DONE else ("logs",)


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
        ("Submitted", _moment(row["created_at"])),
        ("Started", "never" if start is None else _moment(start)),
        ("Ended", None if end is None else _moment(end)),
        ("Duration", None if start is None or end is None else duration_text(end - start)),
        ("Attempts", str(attempts) if attempts > 1 else None),
        ("Result", _result(row)),
    ]
    return [(label, one_line(value, _VALUE_LIMIT)) for label, value in found if value]


def _result(row: Row) -> str | None:
    if row["result"] is None:
        return None
    size = size_text(row["result"]["size"])
    return size if row["result_rows"] is None else f"{row['result_rows']:,} rows, {size}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _links(row: Row, public_url: str | None) -> list[Fact]:
    if not public_url:
        return []
    base = public_url.rstrip("/")
    links = [("Command", base + paths.command(row["id"])), ("Log", base + paths.command(row["id"], "logs"))]
    if row["status"] == CommandStatus.DONE:
        links.append(("Result", base + paths.command(row["id"], "results")))
    return links


def _as_text(
    title: str, facts: Sequence[Fact], reason: str | None, magics: Sequence[str], links: Sequence[Fact]
) -> str:
    width = max(len(label) for label, _ in facts) + 2
    lines = [f"{title}.", "", *(f"{label + ':':<{width}}{value}" for label, value in facts)]
    if reason is not None:
        lines += ["", "Reason:", *(f"    {line}" for line in reason.splitlines())]
    lines += ["", "In a notebook:", *(f"    {magic}" for magic in magics)]
    if links:
        width = max(len(label) for label, _ in links) + 2
        lines += ["", f"Over HTTP, with your token in the header {paths.TOKEN_HEADER}:"]
        lines += [f"    {label + ':':<{width}}{link}" for label, link in links]
    return "\n".join([*lines, ""])


def _as_html(
    title: str, facts: Sequence[Fact], reason: str | None, magics: Sequence[str], links: Sequence[Fact]
) -> str:
    rows = [
        f'<tr><th scope="row" style="{_CELL}">{escape(label)}</th><td>{escape(value)}</td></tr>'
        for label, value in facts
    ]
    parts = [f'<h1 style="font-size:1.2em">{escape(title)}</h1>', f"<table>{''.join(rows)}</table>"]
    if reason is not None:
        parts.append(f'<p>Reason:</p><pre style="white-space:pre-wrap">{escape(reason)}</pre>')
    parts.append(f"<p>In a notebook:</p><pre>{escape(chr(10).join(magics))}</pre>")
    if links:
        items = [f'<li><a href="{escape(link)}">{escape(label)}</a></li>' for label, link in links]
        parts.append(f"<p>Over HTTP, with your token in the header {paths.TOKEN_HEADER}:</p><ul>{''.join(items)}</ul>")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body>{chr(10).join(parts)}</body></html>\n"
    )
