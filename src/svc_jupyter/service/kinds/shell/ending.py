"""The message of a failed shell command: the cause first, in the script's own words, and where it failed."""

from __future__ import annotations

import io
import re
import signal
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, TextIO

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.isolation import bubblewrap
from svc_jupyter.service.processes.output import last_lines

_TAIL_LINES = 5
_LINE_CHARACTERS = 300
_SIGNALLED = 128
"""A shell reports a program that a signal ended as 128 + the signal's number."""
_LOG_START = "log_start"
_OWN: Final = re.compile(r"line (\d+): (.*)")
"""Bash's own message, after the script's path. Line numbers that other programs print mean their own texts."""
_NOT_RUN: Final = (126, 127)
"""Exit codes of a program that cannot be run, or does not exist."""
_NOT_THERE: Final = ": command not found"
_LAST_WORDS: Final = ("syntax error", "unexpected EOF", "unbound variable", "bad substitution")
"""Messages that Bash writes only before it exits."""
_SHOWN: Final = 120
_MOST_LINES: Final = 100_000


def mark_log_start(task: Task) -> None:
    """Record where the attempt's own stderr begins in the log, which may hold earlier lines."""
    with suppress(FileNotFoundError):
        size = task.log_file.stat().st_size
        if size:
            (task.folder / _LOG_START).write_text(f"{size}\n", "ascii")


def explain(code: int | None, task: Task, script: Path) -> str:
    """Return why an attempt failed: how its process ended, the last lines it wrote to stderr, and where it failed."""
    if code is None:
        return (
            "the script is gone without an exit code: something ended it together with what watched over it, "
            "or the machine was restarted"
        )
    how = f"the script exited with code {code}"
    if code > _SIGNALLED:
        with suppress(ValueError):
            number = signal.Signals(code - _SIGNALLED)
            how = f"the script, or the last program in it, was killed by signal {number.value} ({number.name})"
    said = last_lines(task.log_file, _log_start(task))
    lines = [line[:_LINE_CHARACTERS] for line in said[-_TAIL_LINES:]]
    if code == 1 and lines and lines[-1].startswith(bubblewrap.WORDS):
        return f"the command's sandbox could not be made, so its script did not run:\n{lines[-1]}"
    return "\n".join([how, *_with_place(script, task.command.get("inline"), code, lines)])


def _log_start(task: Task) -> int:
    try:
        return int((task.folder / _LOG_START).read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def _with_place(script: Path, typed: str | None, code: int, lines: Sequence[str]) -> list[str]:
    """Return the last lines of a script's stderr without its path, followed by the line at which it failed.

    `typed` is the script as its author wrote it, with the forms that became variables. The line is omitted when it is
    uncertain: the script may have continued after Bash's message.
    """
    own = f"{script}: "
    shown = [line.removeprefix(own) for line in lines]
    found = _OWN.fullmatch(shown[-1]) if lines and lines[-1].startswith(own) else None
    if found is None:
        return shown
    text = _text(script, typed)
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


def _text(script: Path, typed: str | None) -> list[str]:
    with script.open(encoding="utf-8", errors="replace") as file:
        ran = _lines(file)
    shown = _lines(io.StringIO(typed, newline=None))
    return shown if len(shown) == len(ran) else ran  # a form with line breaks moved the lines below it


def _lines(file: TextIO) -> list[str]:
    return [line.rstrip("\n") for line in islice(file, _MOST_LINES)]
