"""Which line of a script made it fail, as far as Bash's own last words tell it for certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

_OWN: Final = re.compile(r"line (\d+): (.*)")
"""What Bash says of a script, behind the script's path. What other programs print of lines is about texts of theirs."""
_NOT_RUN: Final = (126, 127)
"""Exit codes of a program that cannot be run, or is not there."""
_NOT_THERE: Final = ": command not found"
_LAST_WORDS: Final = ("syntax error", "unexpected EOF", "unbound variable", "bad substitution")
"""What Bash says only when it ends with it."""
_SHOWN: Final = 120
_MOST_LINES: Final = 100_000


def with_place(script: Path, code: int, lines: Sequence[str]) -> list[str]:
    """Return the last lines of a script's stderr without its path, and below them the line that it failed at.

    Without that where it cannot be told: the script may have gone on after what Bash complained of.
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
    """Return whether what Bash said is why the script ended; `rest` are the lines behind."""
    if said.endswith(_NOT_THERE) or code in _NOT_RUN:
        return code in _NOT_RUN
    if any(word in said for word in _LAST_WORDS) or said.startswith("`"):  # the line of a syntax error, once more
        return True
    return not any(line.strip() and not line.lstrip().startswith("#") for line in rest)


def _start(text: Sequence[str], number: int) -> int:
    """Return where the command begins that goes on in this line: Bash counts to the line that it has read."""
    while 1 < number <= len(text) and text[number - 2].endswith("\\"):
        number -= 1
    return number


def _text(script: Path) -> list[str]:
    with script.open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in islice(file, _MOST_LINES)]
