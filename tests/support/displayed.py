"""What a front end displays for a cell's value."""

from __future__ import annotations

from typing import Any

from IPython.core.formatters import DisplayFormatter


def mime_bundle_of(value: Any) -> dict[str, Any]:
    """Return the forms of a value, by MIME type."""
    bundle: dict[str, Any] = DisplayFormatter().format(value)[0]
    return bundle


def html_of(value: Any) -> str:
    """Return the HTML of a value."""
    return str(mime_bundle_of(value)["text/html"])
