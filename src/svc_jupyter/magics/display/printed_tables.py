"""Parse the tables that command-line tools print (`df -h`, `ps aux`, `psql`): pure functions on lines."""

from __future__ import annotations

from collections.abc import Sequence


class NotATable(ValueError):
    """The lines do not form a table; the text names the first invalid line."""


def cells_of(lines: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the column names and the rows of a printed table; its first line has the column names.

    Columns are separated by bars or by aligned blanks; rulers are skipped. Raises NotATable.
    """
    kept = [line.expandtabs() for line in lines if line.strip() and not _is_ruler(line)]
    if not kept:
        return [], []
    rows = _between_bars(kept) if "|" in kept[0] else _between_blanks(kept)
    return _unique(rows[0]), rows[1:]


def _is_ruler(line: str) -> bool:
    """Whether a line is only a ruler: `-----+----`, `|:---|---:|`, `====`."""
    return set(line) <= set("-+|=: ") and ("--" in line or "==" in line)


def _between_bars(lines: list[str]) -> list[list[str]]:
    framed = lines[0].strip().startswith("|")
    inner = [line.strip().removeprefix("|").removesuffix("|") if framed else line for line in lines]
    rows = [[cell.strip() for cell in line.split("|")] for line in inner]
    if len(rows) > 1 and len(rows[-1]) == 1 < len(rows[0]):
        rows.pop()  # a footer such as "(3 rows)"
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
    """Return the spans of text between the positions that are blank in every line."""
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
    """Merge the spans of one column: several words under one name, and a name of several words.

    A name of several words has single blanks and nothing under its second word; otherwise these are two names.
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
    """Split a column with a name of several words if every cell has at least as many words."""
    names = column[0].split()
    count = len(names)
    cells = [cell.split(maxsplit=max(count - 1, 0)) for cell in column[1:]]
    if count < 2 or not cells or any(len(cell) < count for cell in cells):
        return [column]
    return [[name, *(cell[place] for cell in cells)] for place, name in enumerate(names)]


def _unique(names: list[str]) -> list[str]:
    """Return unique column names by numbering repeated ones."""
    seen: dict[str, int] = {}
    unique: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name}.{seen[name] - 1}")
    return unique
