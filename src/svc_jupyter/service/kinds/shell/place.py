"""The line at which a script failed, as far as Bash's last messages are conclusive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

_OWN: Final = re.compile(r"line (\d+): (.*)")
"""Bash's own message, after the script's path. Line numbers that other programs print mean their own texts."""
_NOT_RUN: Final = (126, 127)
"""Exit codes of a program that cannot be run, or does not exist."""
_NOT_THERE: Final = ": command not found"
_LAST_WORDS: Final = ("syntax error", "unexpected EOF", "unbound variable", "bad substitution")
"""Messages that Bash writes only before it exits."""
_SHOWN: Final = 120
_MOST_LINES: Final = 100_000


def with_place(script: Path, code: int, lines: Sequence[str]) -> list[str]:
    """Return the last lines of a script's stderr without its path, followed by the line at which it failed.

    The line is omitted when it is uncertain: the script may have continued after Bash's message.
    """
    own = f"{script}: "
    shown = [line.removeprefix(own) for line in lines]
    found = _OWN.fullmatch(shown[-1]) if lines and lines[-1].startswith(own) else None
    if found is None:
        return shown
    text = _text(script)
    number, said = _start(text, int(found[1])), found[2]
    if not 1 <= number <= len(text) or not _ended_with(said, code, text[number:]):
        return shown
    shown[-1] = f"line {number}: {said}"
    line = text[number - 1].strip()
    return [*shown, f"script, line {number}: {line if len(line) <= _SHOWN else line[:_SHOWN] + ' …'}"]


def _ended_with(said: str, code: int, rest: Sequence[str]) -> bool:
    """Return whether Bash's message is why the script ended; `rest` are the lines after it."""
    if said.endswith(_NOT_THERE) or code in _NOT_RUN:
        return code in _NOT_RUN
    if any(word in said for word in _LAST_WORDS) or said.startswith("`"):  # Bash repeats the line of a syntax error
        return True
    return not any(line.strip() and not line.lstrip().startswith("#") for line in rest)


def _start(text: Sequence[str], number: int) -> int:
    """Return the first line of the command that continues in this line: Bash counts to the line that it has read."""
    while 1 < number <= len(text) and text[number - 2].endswith("\\"):
        number -= 1
    return number


def _text(script: Path) -> list[str]:
    with script.open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in islice(file, _MOST_LINES)]
