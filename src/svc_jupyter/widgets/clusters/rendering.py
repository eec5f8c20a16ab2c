"""A cluster panel's HTML: pure functions of a view, with the current time as an argument.

Colours and fonts come from the front end's theme; every value is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from svc_jupyter.api.status_words import DONE, FAILED
from svc_jupyter.clock import as_of_text, time_of_day
from svc_jupyter.widgets.clusters.view import PLOT_SECONDS, ClusterView, engine_words
from svc_jupyter.widgets.clusters.words import (
    Entry,
    Tone,
    doing,
    figures,
    health_entries,
    icon_of,
    start_words,
    state_words,
    worker_words,
    workers_line,
)

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
    ("resourcemanager_heap", "heap", "%", 100.0),
    ("disk_usage", "disk", "%", 100.0),
    ("yarn_memory", "YARN memory", "%", 100.0),
    ("containers_pending", "pending containers", "", 1.0),
)
_WIDTH, _HEIGHT = 96, 20
_MARGIN = 2.0
_GAP_SECONDS = 30.0
"""Samples come every 5 s; the plot leaves a gap where at least this much time is missing."""


def title_html(view: ClusterView, now: datetime, doubt: str | None) -> str:
    """Return the panel's first line."""
    state = f"{icon_of(view.phase)} {state_words(view, now)}"
    if doubt is not None:
        state = f"? unknown since {time_of_day(view.as_of)}"
    tone = Tone.GOOD if view.phase == "UP" and doubt is None else Tone.CALM
    return (
        f'<span role="heading" aria-level="3"><b>{escape(view.name)}</b></span> · '
        f'{escape(engine_words(view.record))} · <span style="{_COLOURS[tone]}">{escape(state)}</span>'
    )


def situation_html(view: ClusterView) -> str:
    """Return the current operation, or why the cluster is down and what a start will do; empty when it is UP."""
    parts = [doing(view)]
    if view.phase == "DOWN":
        parts.append(start_words(view))
    return escape(" ".join(part for part in parts if part))


def health_html(view: ClusterView, doubt: str | None) -> str:
    """Return the line of the daemons, a dot and a word for each, and the reason if one is unhealthy; then the pages."""
    parts = [*map(_entry_html, health_entries(view, doubt)), _pages_html(view)]
    return f'<div style="{_CARD_WIDTH}">{"".join(parts)}</div>' if any(parts) else ""


def _entry_html(entry: Entry) -> str:
    reason = f' <span style="{MUTED}">({escape(entry.reason)})</span>' if entry.reason else ""
    style = _WRAPPING if entry.reason else _ITEM
    return (
        f'<span style="{style}"><span style="{_COLOURS[entry.tone]}">{entry.dot}</span> {escape(entry.name)} '
        f"<b>{escape(entry.word)}</b>{reason}</span>"
    )


def _pages_html(view: ClusterView) -> str:
    links = " ".join(
        f'<a href="{escape(page.url)}" title="{escape(page.url)}" target="_blank" rel="noopener noreferrer" '
        f'style="color: var(--jp-content-link-color)">{escape(page.name)}</a>'
        for page in view.pages
    )
    return f'<span style="{_WRAPPING}"><span style="{MUTED}">pages ↗</span> {links}</span>' if links else ""


def plots_html(view: ClusterView, now: datetime, doubt: str | None) -> str:
    """Return the metrics with plots of the last ten minutes; without plots when no samples are kept."""
    if view.health is None or view.is_external or doubt is not None:
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
    """Return `Workers 2 of 2–4`."""
    return f"<b>{escape(workers_line(view))}</b>"


def worker_html(row: Sequence[str], *, is_known: bool) -> str:
    """Return a worker's line; only its name when its state is unknown."""
    name, status, work, up = row
    tone = Tone.GOOD if "running" in status else Tone.BAD if "lost" in status else Tone.WARNING
    state = f'<span style="{_COLOURS[tone]}">{escape(status)}</span>' if is_known else "? unknown"
    work = work if is_known else ""
    return (
        f'<span style="{_ITEM}; min-width: 9em">{escape(name)}</span>'
        f'<span style="{_ITEM}; min-width: 10em">{state}</span>'
        f'<span style="{_ITEM}; min-width: 7em">{escape(work)}</span>'
        f'<span style="{_ITEM}; {MUTED}; min-width: 5.5em">{escape(up)}</span>'
    )


def worker_rows(view: ClusterView, now: datetime) -> dict[str, tuple[str, str, str, str]]:
    """Return the words for each worker by name; empty for a cluster that is terminating."""
    if view.phase == "TERMINATING":
        return {}
    return {node.private_dns: worker_words(view, node, now) for node in view.workers}


def commands_html(lines: Sequence[str]) -> str:
    """Return a line for each command that the panel has started."""
    return "".join(f'<div style="line-height: 1.5; {_command_colour(line)}">{escape(line)}</div>' for line in lines)


def _command_colour(line: str) -> str:
    if line.startswith(FAILED):
        return _COLOURS[Tone.BAD]
    return _COLOURS[Tone.GOOD] if line.startswith(DONE) else ""


def warning_html(text: str) -> str:
    """Return why a step is impossible."""
    return f'<span role="status" style="{_COLOURS[Tone.WARNING]}">! {escape(text)}</span>'


def foot_text(view: ClusterView, period: float, doubt: str | None) -> str:
    """Return when the view was fetched, and how often it is refreshed."""
    if doubt is not None:
        return f"{as_of_text(view.as_of)} · {doubt}"
    often = "second" if period <= 1 else f"{period:.0f} s"
    return f"{as_of_text(view.as_of)} · refreshes every {often} while visible"


def sparkline(samples: Sequence[tuple[float, float]], label: str, *, now: float, span: float, top: float) -> str:
    """Return the plot of samples, pairs of Unix seconds and value, over the last `span` seconds.

    `top` is the minimum of the upper edge; the lower edge is 0. Empty without data.
    """
    seen = [(at, value) for at, value in samples if now - span <= at <= now]
    if not seen:
        return ""
    top = max(top, *(value for _, value in seen))
    lines = "".join(_piece([_point(at, value, now, span, top) for at, value in piece]) for piece in _pieces(seen))
    values = [value for _, value in seen]
    said = f"{label} over {_minutes(span)}: from {min(values):.0f} to {max(values):.0f}, last {values[-1]:.0f}"
    return (
        f'<svg role="img" aria-label="{escape(said)}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" style="vertical-align: middle"><title>{escape(said)}</title>'
        f'<line x1="0" y1="{_HEIGHT - 1}" x2="{_WIDTH}" y2="{_HEIGHT - 1}" stroke="var(--jp-border-color2)"/>'
        f'<g fill="none" stroke="var(--jp-brand-color1)" stroke-width="1.5" stroke-linejoin="round">{lines}</g></svg>'
    )


def _pieces(samples: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Return the samples, split at gaps."""
    pieces: list[list[tuple[float, float]]] = []
    for sample in samples:
        if pieces and sample[0] - pieces[-1][-1][0] <= _GAP_SECONDS:
            pieces[-1].append(sample)
        else:
            pieces.append([sample])
    return pieces


def _point(at: float, value: float, now: float, span: float, top: float) -> tuple[float, float]:
    x = _WIDTH - _MARGIN - (now - at) / span * (_WIDTH - 2 * _MARGIN)
    y = _HEIGHT - _MARGIN - (value / top if top else 0.0) * (_HEIGHT - 2 * _MARGIN)
    return x, y


def _piece(points: Sequence[tuple[float, float]]) -> str:
    if len(points) == 1:
        x, y = points[0]
        points = [(x - 1, y), (x, y)]
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _minutes(span: float) -> str:
    return f"{span / 60:.0f} minutes"
