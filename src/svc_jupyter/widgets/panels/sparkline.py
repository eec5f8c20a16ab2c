"""A small plot over time as SVG: a line in the colour of the text around it, and the same in words for who hears it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT = 96, 20
_MARGIN = 2.0
_GAP_SECONDS = 30.0
"""Samples come every 5 s: where so much is missing nothing was known, and no line is drawn across."""


def sparkline(samples: Sequence[tuple[float, float]], label: str, *, now: float, span: float, top: float) -> str:
    """Return the plot of samples, pairs of Unix seconds and value, over the last `span` seconds.

    `top` is the value at the upper edge, at least; 0 is at the lower. Empty where there is nothing to draw.
    """
    seen = [(at, value) for at, value in samples if now - span <= at <= now]
    if not seen:
        return ""
    top = max(top, *(value for _, value in seen))
    lines = "".join(_piece([_point(at, value, now, span, top) for at, value in piece]) for piece in _pieces(seen))
    values = [value for _, value in seen]
    said = f"{label} over {_minutes(span)}: from {min(values):.0f} to {max(values):.0f}, last {values[-1]:.0f}"
    return (
        f'<svg role="img" aria-label="{escape(said)}" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" style="vertical-align: middle"><title>{escape(said)}</title>'
        f'<line x1="0" y1="{HEIGHT - 1}" x2="{WIDTH}" y2="{HEIGHT - 1}" stroke="var(--jp-border-color2)"/>'
        f'<g fill="none" stroke="var(--jp-brand-color1)" stroke-width="1.5" stroke-linejoin="round">{lines}</g></svg>'
    )


def _pieces(samples: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Return the samples cut where some are missing."""
    pieces: list[list[tuple[float, float]]] = []
    for sample in samples:
        if pieces and sample[0] - pieces[-1][-1][0] <= _GAP_SECONDS:
            pieces[-1].append(sample)
        else:
            pieces.append([sample])
    return pieces


def _point(at: float, value: float, now: float, span: float, top: float) -> tuple[float, float]:
    x = WIDTH - _MARGIN - (now - at) / span * (WIDTH - 2 * _MARGIN)
    y = HEIGHT - _MARGIN - (value / top if top else 0.0) * (HEIGHT - 2 * _MARGIN)
    return x, y


def _piece(points: Sequence[tuple[float, float]]) -> str:
    if len(points) == 1:
        x, y = points[0]
        points = [(x - 1, y), (x, y)]
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _minutes(span: float) -> str:
    return f"{span / 60:.0f} minutes"
