"""What differs between two notebooks: nbdime aligns their cells and lines, and this makes rows of two columns of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from svc_jupyter.terminal_text import lines_shown, plain

T = TypeVar("T")
Pair = tuple[T | None, T | None]
_MOST_CHARACTERS = 20_000
_TEXT = "text/plain"


def compared(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return `cells`: each with `type`, `is_same`, and rows `[left, right]` of lines in `source` and `outputs`.

    A line that only one side has is null on the other. Of outputs their text counts, of pictures their content.
    Raises ImportError without nbdime.
    """
    from nbdime import diff_notebooks  # an extra, and a quarter of a second

    cells = ([_reduced(cell) for cell in notebook.get("cells", [])] for notebook in (left, right))
    one, other = cells
    found = diff_notebooks(_notebook(one), _notebook(other))
    changes: list[dict[str, Any]] = next((change["diff"] for change in found if change["key"] == "cells"), [])
    return {"cells": [_row(*pair) for pair in aligned(one, other, changes)]}


def aligned(left: Sequence[T], right: Sequence[T], changes: Sequence[Mapping[str, Any]]) -> Iterator[Pair[T]]:
    """Yield the items of two sequences side by side, by the changes that nbdime found between them.

    What was removed stands beside what was added in its place.
    """
    here, there = 0, 0
    removed: list[T] = []
    added: list[T] = []
    for change in changes:
        if change["key"] > here:
            yield from zip_longest(removed, added)
            removed, added = [], []
        while here < change["key"]:
            yield left[here], right[there]
            here, there = here + 1, there + 1
        if change["op"] == "addrange":
            count = len(change["valuelist"])
            added.extend(right[there : there + count])
            there += count
        elif change["op"] == "removerange":
            removed.extend(left[here : here + change["length"]])
            here += change["length"]
        else:
            yield from zip_longest(removed, added)
            removed, added = [], []
            yield left[here], right[there]
            here, there = here + 1, there + 1
    yield from zip_longest(removed, added)
    yield from zip(left[here:], right[there:], strict=True)


def _row(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any]:
    shown = right or left or {}
    return {
        "type": shown["cell_type"],
        "is_same": left == right,
        "source": _lines(_source(left), _source(right)),
        "outputs": _lines(_output(left), _output(right)),
    }


def _lines(left: str, right: str) -> list[Pair[str]]:
    from nbdime import diff

    one, other = left.splitlines(), right.splitlines()
    return list(aligned(one, other, diff(one, other)))


def _source(cell: Mapping[str, Any] | None) -> str:
    return "" if cell is None else str(cell["source"])


def _output(cell: Mapping[str, Any] | None) -> str:
    return "" if cell is None else "\n".join(cell.get("outputs", []))


def _notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Return cells as a notebook without outputs, by which nbdime would otherwise align the cells, too."""
    bare = [{**cell, "outputs": []} if "outputs" in cell else cell for cell in cells]
    return {"cells": bare, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}


def _reduced(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell with what a reader compares: numbers, times and ids of a run are always others."""
    reduced = {"cell_type": str(cell.get("cell_type")), "metadata": {}, "source": _text(cell.get("source"))}
    if reduced["cell_type"] != "code":
        return reduced
    outputs = [_cut(_of_output(output)).rstrip("\n") for output in cell.get("outputs", [])]
    return {**reduced, "execution_count": None, "outputs": outputs}


def _of_output(output: Mapping[str, Any]) -> str:
    if "traceback" in output:
        return plain("\n".join(map(str, output["traceback"])))
    if "text" in output:
        return "\n".join(lines_shown(_text(output["text"])))
    data = output.get("data") or {}
    pictures = [
        f"[{kind} {hashlib.sha256(_text(value).encode()).hexdigest()[:8]}]"
        for kind, value in sorted(data.items())
        if str(kind).startswith("image/")
    ]
    return "\n".join([_text(data.get(_TEXT)), *pictures]).strip("\n")


def _cut(text: str) -> str:
    more = len(text) - _MOST_CHARACTERS
    return text if more <= 0 else f"{text[:_MOST_CHARACTERS]}\n… {more:,} more characters"


def _text(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
