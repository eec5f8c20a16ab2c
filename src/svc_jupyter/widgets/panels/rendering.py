"""What every panel says in the same way, as HTML: colours are the front end's theme's, and every value is escaped."""

from __future__ import annotations

from html import escape
from typing import Final

MUTED: Final = "color: var(--jp-ui-font-color2)"
FAILED: Final = "color: var(--jp-error-color1)"
NO_MATHS: Final = "mathjax_ignore tex2jax_ignore"
"""Classes that keep a front end from reading `$day$` as a formula."""


def text_html(text: str) -> str:
    """Return a text for where a front end would look for formulas."""
    return f'<span class="{NO_MATHS}">{escape(text)}</span>'


def muted_html(text: str) -> str:
    """Return a text that stays in the background."""
    return f'<span style="{MUTED}">{escape(text)}</span>'


def question_html(text: str) -> str:
    """Return a question that waits for its answer."""
    return f'<span role="alert">{escape(text)}</span>'


def problem_html(text: str) -> str:
    """Return what went wrong."""
    return f'<span role="alert" style="{FAILED}">✗ {escape(text)}</span>'
