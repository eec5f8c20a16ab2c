"""The status of a command in a notebook, as HTML and for JupyterLab: its line and the end of its log.

The styles are inline, so that they survive a front end that drops style sheets. Without our JupyterLab extension the
element `svc-status-links` stays empty: a saved page has no dead links.
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
_DIM = "color: var(--jp-ui-font-color2, GrayText)"
_FONT = "font-size: 13px; line-height: 20px"
_CODE = "font-family: var(--jp-code-font-family, monospace); font-size: 12px; line-height: 18px"
_ERROR = "var(--jp-error-color1, #d32f2f)"
_BUSY = "var(--jp-brand-color1, #1976d2)"
_COLOURS = {
    DONE: "var(--jp-success-color1, #388e3c)",
    FAILED: _ERROR,
    RUNNING: _BUSY,
    WAITING: _BUSY,
    STOPPED: "var(--jp-ui-font-color2, GrayText)",
}
LINKS = '<span class="svc-status-links"></span>'


def line_html(text: str, log: Sequence[str] = ()) -> str:
    """Return a status line, whose first character may be an icon, and below it the last lines of the log."""
    icon, rest = (text[0], text[1:].lstrip()) if text[:1] in _COLOURS else ("", text)
    words, _, hint = rest.rpartition(" · ") if rest.rpartition(" · ")[2].startswith("interrupt") else (rest, "", "")
    sign = f'<span class="svc-status-icon" style="color: {_COLOURS[icon]}">{icon}</span>' if icon else ""
    dim = f'<span style="{_DIM}">{escape(hint)}</span>' if hint else ""
    line = (
        f'<div class="svc-status {NO_MATHS}" style="display: flex; gap: 0 8px; {_FONT}">'
        f'{sign}<span class="svc-status-text">{escape(words)}</span>{dim}{LINKS}</div>'
    )
    return line + _log_html(log) if log else line


def _log_html(log: Sequence[str]) -> str:
    """Return the lines in a box that has the same height for any number of them."""
    text = escape("\n".join(log[-LOG_LINES:]))
    box = (
        f"height: {18 * LOG_LINES}px; margin: 4px 0 0; padding: 4px 10px; overflow: hidden; white-space: pre; "
        f"border: 0; border-left: 3px solid {_BUSY}; background: var(--jp-layout-color2, #8882); {_CODE}; {_DIM}"
    )
    return f'<pre class="svc-status-log {NO_MATHS}" style="{box}">{text}</pre>'


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
