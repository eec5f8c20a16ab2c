"""HTML shared by all panels. Colours come from the front end's theme; every value is escaped."""

from __future__ import annotations

from html import escape
from typing import Final

MUTED: Final = "color: var(--jp-ui-font-color2)"
FAILED: Final = "color: var(--jp-error-color1)"
NO_MATHS: Final = "mathjax_ignore tex2jax_ignore"
"""Classes that keep a front end from rendering `$day$` as a formula."""


def text_html(text: str) -> str:
    """Return a text that a front end does not search for formulas."""
    return f'<span class="{NO_MATHS}">{escape(text)}</span>'


def muted_html(text: str) -> str:
    """Return a muted text."""
    return f'<span style="{MUTED}">{escape(text)}</span>'


def question_html(text: str) -> str:
    """Return a question, which may have several lines."""
    return f'<div role="alert" style="line-height: 1.5; max-width: 56em">{escape(text)}</div>'


def problem_html(text: str) -> str:
    """Return an error."""
    return f'<span role="alert" style="{FAILED}">✗ {escape(text)}</span>'
