"""Find the line of a query or script that an engine's error refers to: pure functions of the message and the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NOT_FOUND = re.compile(r"\S+: line (\d+): (\S+): command not found")
_LINE_FIRST = re.compile(r"\bline (\d+):", re.IGNORECASE)
_QUERY_LINE = re.compile(r"\bline\s+(\d+)\b", re.IGNORECASE)
_NAMED = (
    re.compile(r"no such (?:column|table|function|module|savepoint|index|view): ([\w.\"$]+)", re.IGNORECASE),
    re.compile(r"(?:ambiguous column name): ([\w.]+)", re.IGNORECASE),
    re.compile(r"(?:near|column|relation|function|type|at or near|schema|table) \"([^\"]+)\"", re.IGNORECASE),
    re.compile(r"(?:column|function) ([\w.]+)(?:\([^)]*\))? does not exist", re.IGNORECASE),
    re.compile(r"unknown column '([^']+)'", re.IGNORECASE),
)
_LONGEST_SHOWN = 120


@dataclass(frozen=True)
class Place:
    """A line of a text, counted from 1."""

    number: int
    line: str

    def __str__(self) -> str:
        shown = self.line.strip()
        return f"line {self.number}: {shown if len(shown) <= _LONGEST_SHOWN else shown[:_LONGEST_SHOWN] + ' …'}"


def place_of(message: str, text: str) -> Place | None:
    """Return the line of `text` that an engine's message refers to, or None.

    A line number in the message takes precedence; otherwise the name or word that the message reports, if it occurs
    only once or on one line only.
    """
    lines = text.split("\n")
    numbered = _LINE_FIRST.search(message) or _QUERY_LINE.search(message)
    if numbered:
        number = int(numbered[1])
        if 1 <= number <= len(lines) and lines[number - 1].strip():
            return Place(number, lines[number - 1])
        return None
    for pattern in _NAMED:
        found = pattern.search(message)
        if found:
            return _only_line_with(found[1].strip('"'), lines)
    return None


def script_place_of(message: str, text: str) -> Place | None:
    """Return the line of a shell script that an error refers to, or None.

    Only the shell's last message counts, and only if the line contains the program that it names: other programs and
    nested shells count the lines of their own texts.
    """
    lines = text.split("\n")
    last = message.rstrip().rpartition("\n")[2]
    found = _NOT_FOUND.fullmatch(last.strip())
    if found is None or not 1 <= int(found[1]) <= len(lines):
        return None
    place = Place(int(found[1]), lines[int(found[1]) - 1])
    return place if re.search(rf"(?<!\S){re.escape(found[2])}(?!\S)", place.line) else None


def _only_line_with(word: str, lines: list[str]) -> Place | None:
    """Return the only line that contains a word (its last part when qualified); None when several do."""
    for candidate in dict.fromkeys((word, word.rpartition(".")[2])):
        whole = re.compile(rf"(?<!\w){re.escape(candidate)}(?!\w)", re.IGNORECASE)
        holding = [number for number, line in enumerate(lines, start=1) if whole.search(line)]
        if len(holding) == 1:
            return Place(holding[0], lines[holding[0] - 1])
    return None
