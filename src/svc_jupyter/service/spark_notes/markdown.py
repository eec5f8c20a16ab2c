"""Paragraphs in Markdown as HTML. HTML in the text is shown as text: a note is read by others than its author."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mistune import Markdown


def rendered(text: str) -> str:
    """Return Markdown as HTML."""
    return cast("str", _renderer()(text))


@cache
def _renderer() -> Markdown:
    import mistune

    return mistune.create_markdown(escape=True, plugins=["strikethrough", "table", "task_lists", "url"])
