"""A cluster as a panel's HTML: pure functions of a view, with the present as an argument.

Colours and fonts are the front end's theme's, and every value is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from svc_jupyter.widgets.clusters.view import PLOT_SECONDS, ClusterView
from svc_jupyter.widgets.clusters.words import (
    Entry,
    Tone,
    clock_of,
    doing,
    figures,
    health_entries,
    icon_of,
    start_words,
    state_words,
    worker_words,
    workers_line,
)
from svc_jupyter.widgets.panels.sparkline import sparkline
from svc_jupyter.widgets.panels.status_words import DONE, FAILED

NO_CLUSTERS = "The service has no clusters."
MUTED = "color: var(--jp-ui-font-color2)"
_COLOURS = {
    Tone.GOOD: "color: var(--jp-success-color1)",
    Tone.WARNING: "color: var(--jp-warn-color1)",
    Tone.BAD: "color: var(--jp-error-color1)",
    Tone.CALM: MUTED,
}
_ITEM = "display: inline-block; margin-right: 1.2em; white-space: nowrap"
_WRAPPING = "display: inline-block; margin-right: 1.2em"
_CARD_WIDTH = "line-height: 1.7"
_PLOTS = (
    ("cpu_usage", "CPU", "%", 100.0),
    ("resourcemanager_heap", "ResourceManager heap", "%", 100.0),
    ("disk_usage", "disk", "%", 100.0),
    ("yarn_memory", "YARN memory", "%", 100.0),
    ("containers_pending", "pending containers", "", 1.0),
)


def title_html(view: ClusterView, now: datetime, doubt: str | None) -> str:
    """Return the panel's first line."""
    state = f"{icon_of(view.phase)} {state_words(view, now)}"
    if doubt is not None:
        state = f"? state unknown since {clock_of(view.as_of)}"
    tone = Tone.GOOD if view.phase == "UP" and doubt is None else Tone.CALM
    return (
        f'<span role="heading" aria-level="3"><b>{escape(view.name)}</b></span> · {escape(view.type)} · '
        f'<span style="{_COLOURS[tone]}">{escape(state)}</span>'
    )


def situation_html(view: ClusterView) -> str:
    """Return what is being done, or why the cluster is down and what a start will do; empty when it is UP."""
    parts = [doing(view)]
    if view.phase == "DOWN":
        parts.append(start_words(view))
    return escape(" ".join(part for part in parts if part))


def health_html(view: ClusterView, doubt: str | None) -> str:
    """Return the line of the daemons: a dot and a word for each, and why where one is not well."""
    entries = health_entries(view, doubt)
    if not entries:
        return ""
    return f'<div style="{_CARD_WIDTH}">{"".join(_entry_html(entry) for entry in entries)}</div>'


def _entry_html(entry: Entry) -> str:
    reason = f' <span style="{MUTED}">({escape(entry.reason)})</span>' if entry.reason else ""
    style = _WRAPPING if entry.reason else _ITEM
    return (
        f'<span style="{style}"><span style="{_COLOURS[entry.tone]}">{entry.dot}</span> {escape(entry.name)} '
        f"<b>{escape(entry.word)}</b>{reason}</span>"
    )


def plots_html(view: ClusterView, now: datetime, doubt: str | None) -> str:
    """Return the figures with their plots over the last ten minutes; figures alone where no samples are kept."""
    if view.health is None or doubt is not None:
        return ""
    series = view.metrics.metrics if view.metrics is not None else {}
    shown = [_plot_html(name, unit, top, series[key].samples, now) for key, name, unit, top in _PLOTS if key in series]
    shown = [plot for plot in shown if plot]
    if not shown:
        return f'<div style="{_CARD_WIDTH}">{escape(" · ".join(figures(view)))}</div>'
    over = f'<span style="{_ITEM}; {MUTED}">last {PLOT_SECONDS // 60} minutes</span>'
    return f'<div style="{_CARD_WIDTH}">{"".join(shown)}{over}</div>'


def _plot_html(name: str, unit: str, top: float, samples: Sequence[tuple[float, float]], now: datetime) -> str:
    plot = sparkline(samples, name, now=now.timestamp(), span=PLOT_SECONDS, top=top)
    if not plot:
        return ""
    value = f"{samples[-1][1]:.0f} {unit}".strip()
    return f'<span style="{_ITEM}">{escape(name)} <b>{value}</b> {plot}</span>'


def workers_html(view: ClusterView) -> str:
    """Return `Workers 2 of 2 to 4`."""
    return f"<b>{escape(workers_line(view))}</b>"


def worker_html(row: Sequence[str], *, is_known: bool) -> str:
    """Return a worker's line; of one that is not known how it stands the name alone."""
    name, status, up = row
    tone = Tone.GOOD if "RUNNING" in status else Tone.BAD if "LOST" in status else Tone.WARNING
    told = f'<span style="{_COLOURS[tone]}">{escape(status)}</span>' if is_known else "? unknown"
    return (
        f'<span style="{_ITEM}; min-width: 9em">{escape(name)}</span>'
        f'<span style="{_ITEM}; min-width: 10em">{told}</span>'
        f'<span style="{_ITEM}; {MUTED}; min-width: 5.5em">{escape(up)}</span>'
    )


def worker_rows(view: ClusterView, now: datetime) -> dict[str, tuple[str, str, str]]:
    """Return the words on each worker by its name; none of a cluster that is ending."""
    if view.phase == "TERMINATING":
        return {}
    return {node.private_dns: worker_words(node, now) for node in view.workers}


def commands_html(lines: Sequence[str]) -> str:
    """Return a line for each command that the panel has begun."""
    return "".join(f'<div style="line-height: 1.5; {_command_colour(line)}">{escape(line)}</div>' for line in lines)


def _command_colour(line: str) -> str:
    if line.startswith(FAILED):
        return _COLOURS[Tone.BAD]
    return _COLOURS[Tone.GOOD] if line.startswith(DONE) else ""


def question_html(text: str) -> str:
    """Return a question that waits for its answer; it may take several lines."""
    return f'<div role="alert" style="line-height: 1.5; max-width: 56em">{escape(text)}</div>'


def warning_html(text: str) -> str:
    """Return why something cannot be done."""
    return f'<span role="status" style="{_COLOURS[Tone.WARNING]}">! {escape(text)}</span>'


def foot_text(view: ClusterView, period: float, doubt: str | None) -> str:
    """Return when the view was made, and how often it is made again."""
    if doubt is not None:
        return f"as of {clock_of(view.as_of)} · {doubt}"
    often = "second" if period <= 1 else f"{period:.0f} s"
    return f"as of {clock_of(view.as_of)} · refreshes every {often} while visible"
