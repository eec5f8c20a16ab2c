"""Columns out of the tables that command-line tools print (`df -h`, `ps aux`, `psql`): pure functions on lines."""

from __future__ import annotations

from collections.abc import Sequence


class NotATable(ValueError):
    """The lines do not form a table; the text says which line breaks it."""


def cells_of(lines: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the column names and the rows of a printed table; its first line names the columns.

    Bars or else aligned blanks separate the columns; rulers are left out. Raises NotATable.
    """
    kept = [line.expandtabs() for line in lines if line.strip() and not _is_ruler(line)]
    if not kept:
        return [], []
    rows = _between_bars(kept) if "|" in kept[0] else _between_blanks(kept)
    return _told_apart(rows[0]), rows[1:]


def _is_ruler(line: str) -> bool:
    """Whether a line only draws: `-----+----`, `|:---|---:|`, `====`."""
    return set(line) <= set("-+|=: ") and ("--" in line or "==" in line)


def _between_bars(lines: list[str]) -> list[list[str]]:
    framed = lines[0].strip().startswith("|")
    inner = [line.strip().removeprefix("|").removesuffix("|") if framed else line for line in lines]
    rows = [[cell.strip() for cell in line.split("|")] for line in inner]
    if len(rows) > 1 and len(rows[-1]) == 1 < len(rows[0]):
        rows.pop()  # a closing line such as "(3 rows)"
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise NotATable(f"row {number} has {len(row)} columns, the first line names {len(rows[0])}")
    return rows


def _between_blanks(lines: list[str]) -> list[list[str]]:
    spans = _named_spans(lines, _spans(lines))
    columns: list[list[str]] = []
    for start, end in spans:
        columns += _words_apart([line[start:end].strip() for line in lines])
    return [list(row) for row in zip(*columns, strict=True)]


def _spans(lines: list[str]) -> list[tuple[int, int]]:
    """Return where text stands, between the positions that are blank in every line."""
    width = max(len(line) for line in lines)
    taken = [False] * (width + 1)
    for line in lines:
        for place, character in enumerate(line):
            if character != " ":
                taken[place] = True
    starts = [place for place in range(width) if taken[place] and (place == 0 or not taken[place - 1])]
    ends = [place + 1 for place in range(width) if taken[place] and not taken[place + 1]]
    return list(zip(starts, ends, strict=True))


def _named_spans(lines: list[str], spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join what is one column: words of a cell under one name, and words of one name over a cell.

    A name of several words is told from two names by its single blank and by having nothing under its second word.
    """
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        nameless = not lines[0][start:end].strip()
        empty = not any(line[start:end].strip() for line in lines[1:])
        if joined and (
            nameless or (empty and len(lines) > 1 and lines[0][: start - 1].rstrip() == lines[0][: start - 1])
        ):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _words_apart(column: list[str]) -> list[list[str]]:
    """Split a column whose name has several words when every cell has at least as many: it was several columns."""
    names = column[0].split()
    count = len(names)
    cells = [cell.split(maxsplit=max(count - 1, 0)) for cell in column[1:]]
    if count < 2 or not cells or any(len(cell) < count for cell in cells):
        return [column]
    return [[name, *(cell[place] for cell in cells)] for place, name in enumerate(names)]


def _told_apart(names: list[str]) -> list[str]:
    """Return column names in which a repeated one carries a number."""
    seen: dict[str, int] = {}
    told: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name}.{seen[name] - 1}")
    return told
