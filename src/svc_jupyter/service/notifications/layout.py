"""Layout of a message as text and as HTML: pure functions of its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from svc_jupyter.api import paths

Fact = tuple[str, str]
_CELL = "padding:2px 12px 2px 0;text-align:left;vertical-align:top"


@dataclass(frozen=True, slots=True)
class Notice:
    """A message in the forms a channel may need; `subject` is one line without control characters."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels with their values."""

    pairs: Sequence[Fact]

    def as_text(self) -> list[str]:
        """Return the lines of a plain text."""
        return _aligned(self.pairs)

    def as_html(self) -> str:
        """Return a table."""
        rows = [
            f'<tr><th scope="row" style="{_CELL}">{escape(label)}</th><td>{escape(value)}</td></tr>'
            for label, value in self.pairs
        ]
        return f"<table>{''.join(rows)}</table>"


@dataclass(frozen=True, slots=True)
class Lines:
    """Preformatted text under a heading."""

    heading: str
    lines: Sequence[str]

    def as_text(self) -> list[str]:
        """Return the lines of a plain text."""
        return [f"{self.heading}:", *(f"    {line}" for line in self.lines)]

    def as_html(self) -> str:
        """Return a paragraph and preformatted text."""
        text = escape("\n".join(self.lines))
        return f'<p>{escape(self.heading)}:</p><pre style="white-space:pre-wrap">{text}</pre>'


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of the service's interface, with their labels."""

    pairs: Sequence[Fact]

    def as_text(self) -> list[str]:
        """Return the lines of a plain text."""
        return [_HOW_TO_ASK, *(f"    {line}" for line in _aligned(self.pairs))]

    def as_html(self) -> str:
        """Return a list of links."""
        items = [f'<li><a href="{escape(link)}">{escape(label)}</a></li>' for label, link in self.pairs]
        return f"<p>{_HOW_TO_ASK}</p><ul>{''.join(items)}</ul>"


Block = Facts | Lines | Links
_HOW_TO_ASK = f"Over HTTP, with your token in the header {paths.TOKEN_HEADER}:"


def laid_out(subject: str, title: str, blocks: Sequence[Block]) -> Notice:
    """Return a message from a title and the blocks after it."""
    text = [f"{title}."]
    for block in blocks:
        text += ["", *block.as_text()]
    html = [f'<h1 style="font-size:1.2em">{escape(title)}</h1>', *(block.as_html() for block in blocks)]
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body>{chr(10).join(html)}</body></html>\n"
    )
    return Notice(subject, "\n".join([*text, ""]), page)


def _aligned(pairs: Sequence[Fact]) -> list[str]:
    width = max(len(label) for label, _ in pairs) + 2
    return [f"{label + ':':<{width}}{value}" for label, value in pairs]
