"""Print records as tables and facts for a terminal, or as JSON for programs. Pure, except `show` and `show_list`."""

from __future__ import annotations

import argparse
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from svc_jupyter.api.fields import Record

R = TypeVar("R", bound=Record)
_GAP = "  "


def show_list(
    arguments: argparse.Namespace, records: Sequence[R], columns: Mapping[str, Callable[[R], object]], nothing: str
) -> None:
    """Print records as a table of the columns, or `nothing` without records; with `--json` as a JSON array."""
    if arguments.json:
        print(as_json([record.model_dump(mode="json") for record in records]))
    elif records:
        print(table(list(columns), [[cell(record) for cell in columns.values()] for record in records]))
    else:
        print(nothing)


def show(arguments: argparse.Namespace, record: Record, facts: Mapping[str, object]) -> None:
    """Print a record, one line per fact; with `--json` the record itself."""
    print(as_json(record.model_dump(mode="json")) if arguments.json else fact_lines(facts))


def as_json(value: Any) -> str:
    """Return JSON text in ASCII: safe for a terminal and printable in every locale."""
    return json.dumps(value, indent=2)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return aligned columns under a header; numbers are aligned to the right."""
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    widths = [max(width_of(line[place]) for line in [header, *cells]) for place in range(len(header))]
    to_the_right = [all(isinstance(row[place], int) for row in rows) for place in range(len(header))]
    lines = [
        _GAP.join(_padded(*column) for column in zip(line, widths, to_the_right, strict=True)).rstrip()
        for line in [header, *cells]
    ]
    return "\n".join(lines)


def fact_lines(facts: Mapping[str, object]) -> str:
    """Return a line per fact; a list gives a line per item."""
    width = max(len(name) for name in facts)
    lines = []
    for name, value in facts.items():
        items = [printable(str(item)) for item in (value if isinstance(value, list) else [value])] or ["none"]
        lines += [
            f"{label:<{width}}{_GAP}{item}" for label, item in zip([name, *[""] * len(items)], items, strict=False)
        ]
    return "\n".join(lines)


def printable(text: str) -> str:
    """Return a text with control and invisible characters escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def width_of(text: str) -> int:
    """Return the width of a text in terminal columns."""
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, width: int, to_the_right: bool) -> str:
    blanks = " " * (width - width_of(text))
    return blanks + text if to_the_right else text + blanks
