"""The status of a command in a notebook, as HTML and for JupyterLab: its line and the end of its log.

The styles are inline, so that they survive a front end that drops style sheets. Without our JupyterLab extension the
element `svc-status-links` stays empty, so that a saved page has no dead links, and the log unfolds below the line; the
extension puts links there instead, which open the command.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from svc_jupyter.api.status_words import DONE, FAILED, RUNNING, STOPPED, WAITING, type_word
from svc_jupyter.magics.display.formats import LINES
from svc_jupyter.widgets.panels.rendering import NO_MATHS

if TYPE_CHECKING:
    from svc_jupyter.api.commands import CommandRecord

STATUS = "application/vnd.svc-jupyter.status+json"
UNREAD = "unread"
"""The status of a command that is done and whose result the kernel has not read, or could not."""
OPTIONS = ("format", "types", "dump", "result", "outs")
"""The options that say how a cell reads a result, and which further variables it assigns."""
LOG_LINES = 5
"""The lines of the log below the line of a command that runs."""
_LINE_PIXELS = 20
_LOG_LINE_PIXELS = 18
_DIM = "color: var(--jp-ui-font-color2, GrayText)"
_FONT = f"font-size: 13px; line-height: {_LINE_PIXELS}px"
_CODE = f"font-family: var(--jp-code-font-family, monospace); font-size: 12px; line-height: {_LOG_LINE_PIXELS}px"
_ERROR = "var(--jp-error-color1, #d32f2f)"
_BUSY = "var(--jp-brand-color1, #1976d2)"
_COLOURS = {
    DONE: "var(--jp-success-color1, #388e3c)",
    FAILED: _ERROR,
    RUNNING: _BUSY,
    WAITING: _BUSY,
    STOPPED: "var(--jp-ui-font-color2, GrayText)",
}


def running_html(text: str, log: Sequence[str] = ()) -> str:
    """Return the line of what runs, and below it the last lines of its log."""
    return _line(text) + (_live_log(log) if log else "")


def ended_html(text: str, log: Sequence[str] = ()) -> str:
    """Return the last line, and the end of the log, which unfolds below it."""
    return _line(text, ' style="min-width: 56px"') + _folded_log(log) if log else _line(text)


def _line(text: str, room: str = "") -> str:
    """Return a status line, whose first character may be an icon; `room` keeps its end free."""
    icon, rest = (text[0], text[1:].lstrip()) if text[:1] in _COLOURS else ("", text)
    words, _, hint = rest.rpartition(" · ") if rest.rpartition(" · ")[2].startswith("interrupt") else (rest, "", "")
    sign = f'<span class="svc-status-icon" style="color: {_COLOURS[icon]}">{icon}</span>' if icon else ""
    dim = f'<span style="{_DIM}">{escape(hint)}</span>' if hint else ""
    return (
        f'<div class="svc-status {NO_MATHS}" style="display: flex; gap: 0 8px; {_FONT}">'
        f'{sign}<span class="svc-status-text">{escape(words)}</span>{dim}'
        f'<span class="svc-status-links"{room}></span></div>'
    )


def _live_log(log: Sequence[str]) -> str:
    """Return the lines in a box that has the same height for any number of them."""
    style = f"height: {_LOG_LINE_PIXELS * LOG_LINES}px; overflow: hidden; border-left: 3px solid {_BUSY}"
    return _box("svc-status-log", style, log)


def _folded_log(log: Sequence[str]) -> str:
    """Return the lines behind the word "Log", which stands at the end of the line above it."""
    summary = f"width: fit-content; margin-left: auto; cursor: pointer; {_FONT}; {_DIM}"
    box = _box("svc-status-lines", "overflow-x: auto; border-left: 3px solid GrayText", log)
    return (
        f'<details class="svc-status-fold" style="margin-top: -{_LINE_PIXELS}px">'
        f'<summary style="{summary}">Log</summary>{box}</details>'
    )


def _box(name: str, style: str, lines: Sequence[str]) -> str:
    look = (
        "margin: 4px 0 0; padding: 4px 10px; white-space: pre; border: 0; "
        f"{style}; background: var(--jp-layout-color2, #8882); {_CODE}; {_DIM}"
    )
    text = escape("\n".join(lines))
    return f'<pre class="{name} {NO_MATHS}" style="{look}">{text}</pre>'


@dataclass(frozen=True)
class Use:
    """What a cell does with its result: the variable that it assigns, and the options by which it reads it."""

    name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: argparse.Namespace) -> Use:
        """Return what the options of a cell say."""
        given = {name: getattr(values, name, None) for name in OPTIONS}
        return cls(values.out, {name: value for name, value in given.items() if value and value != LINES})


def status_data(
    record: CommandRecord,
    status: str,
    seconds: float | None,
    *,
    shape: tuple[int | None, int] | None = None,
    use: Use,
) -> dict[str, Any]:
    """Return the status of a command for JupyterLab; `shape` is its result's rows and columns."""
    rows, columns = shape or (None, None)
    return {
        "version": 1,
        "command": record.id,
        "created_at": record.created_at,
        "kind": type_word(record.command_type),
        "status": status,
        "seconds": None if seconds is None else round(seconds, 3),
        "rows": rows,
        "columns": columns,
        "name": use.name,
        **({"options": dict(use.options)} if use.options else {}),
    }
