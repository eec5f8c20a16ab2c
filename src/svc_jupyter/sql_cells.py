"""The parts of a cell with SQL: one below each magic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_MAGIC: Final = re.compile(r"^%%([\w.]+)(?:\(.*\))?([^\S\n].*)?$", re.MULTILINE)
_ALONE: Final = re.compile(r"\s*%((?:spark\.)?sql)(?:\(.*\))?([^\S\n]*)$", re.MULTILINE)
"""A cell of the kernel Spark (svc)."""


@dataclass(frozen=True, slots=True)
class Section:
    """A magic, the rest of its line, and the text below it, which begins at the character `start` of the cell."""

    magic: str
    options: str
    head: str
    """The whole line of the magic."""
    start: int
    body: str


def sections(cell: str) -> Iterator[Section]:
    """Yield the parts of a cell; none of a cell that begins with something else than a magic."""
    alone = _ALONE.match(cell)
    magics = [alone] if alone else [*_MAGIC.finditer(cell)]
    if not magics or cell[: magics[0].start()].strip():
        return
    for magic, following in zip(magics, [*magics[1:], None], strict=True):
        end = len(cell) if following is None else following.start() - 1
        start = min(magic.end() + 1, end)
        yield Section(magic[1], (magic[2] or "").strip(), magic[0].strip(), start, cell[start:end])
