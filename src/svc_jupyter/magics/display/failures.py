"""The readable error of a failed or cancelled command: first the cause, then the engine's message and the place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

from svc_jupyter.durations import duration
from svc_jupyter.magics.display.errors import SvcMagicError

if TYPE_CHECKING:
    from svc_jupyter.client import Command
    from svc_jupyter.client.errors import CommandEnded

_LOG_LINES = 10
_MESSAGE_LINES = 12
_SUB_COMMAND = re.compile(r"sub-command (\d+) of \d+ \(\w+, command (\d+)\)")


@dataclass
class Origin:
    """The origin of a command: the kind of its text (`query`, `script`), the text, and its target.

    `target` is known only after submission. `parts` are the origins of a composite's sub-commands. `is_shell` marks a
    shell script, whose messages give line numbers in another form. `advice` is what may help if the command fails.
    """

    noun: str
    text: str = ""
    target: str = ""
    parts: tuple[Origin, ...] = ()
    is_shell: bool = False
    advice: str = ""

    def place(self, words: str) -> LinePosition | None:
        """Return the line of the text that an error message refers to, or None."""
        return script_position_of(words, self.text) if self.is_shell else position_of(words, self.text)


@dataclass(frozen=True)
class Failure:
    """The failure of a command, in parts: as text the first line is the cause, the last line the next step."""

    command_id: int
    cause: str
    what: str
    """How and when it ended: `failed after 8 ms`."""
    words: Sequence[str]
    """The engine's further words, and the end of the log."""
    origin: Origin
    position: LinePosition | None = None
    log_of: int | None = None
    """The command whose log has details, if it is another one."""
    advice: Sequence[str] = ()

    def __str__(self) -> str:
        first = f"command {self.command_id} {self.what}{f': {self.cause}' if self.cause else ''}"
        target = f"{self.origin.target}. " if self.origin.target else ""
        return "\n".join([first, *(f"  {line}" for line in self._details()), f"  {target}{self._next_step()}"])

    def _details(self) -> list[str]:
        place = [f"{self.origin.noun}, {self.position}"] if self.position else []
        return [*self.words, *place, *self.advice]

    def _next_step(self) -> str:
        return f"Log: %svc_command {self.log_of or self.command_id} logs"


class SvcCommandFailed(SvcMagicError):
    """The command ended in `error`; `command_id` identifies its log."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.command_id = failure.command_id


class SvcCommandCancelled(SvcCommandFailed):
    """The command was cancelled, not by this cell."""


def failure_of(ended: CommandEnded, command: Command, origin: Origin, seconds: float) -> SvcCommandFailed:
    """Return the error for a command that failed or was cancelled.

    Fetches the end of the log when the service gives no reason, or only the exit code of a script.
    """
    from svc_jupyter.client.errors import CommandCancelled

    cancelled = isinstance(ended, CommandCancelled)
    message = reason_of(ended, command)
    if part := part_of(message, origin):
        return SvcCommandFailed(part_failure(command.id, message, part, seconds))
    has_reason = "\n" in message if origin.noun == "script" else bool(message)
    log = [] if cancelled or has_reason else _end_of_log(command)
    if not message and log:
        message = log.pop()  # tools usually print the cause last
    kind = SvcCommandCancelled if cancelled else SvcCommandFailed
    return kind(failure(command.id, message, log, origin, seconds, cancelled=cancelled))


@dataclass(frozen=True)
class Part:
    """The sub-command that ended a composite: its number, its command's id, and its origin."""

    command_id: int
    origin: Origin


def part_of(message: str, origin: Origin) -> Part | None:
    """Return the failed sub-command that a message of our service names."""
    found = _SUB_COMMAND.match(message)
    if not found or not 1 <= int(found[1]) <= len(origin.parts):
        return None
    return Part(int(found[2]), origin.parts[int(found[1]) - 1])


def part_failure(command_id: int, message: str, part: Part, seconds: float) -> Failure:
    """Return a composite's failure: the place in its sub-command's text, and how to read that log."""
    return failure(command_id, message, [], part.origin, seconds, log_of=part.command_id)


def _end_of_log(command: Command) -> list[str]:
    from svc_jupyter.client.commands.following import lines_of_tail
    from svc_jupyter.client.errors import SvcError

    try:
        return [line for line in lines_of_tail(command.log_tail(_LOG_LINES), _LOG_LINES) if line.strip()]
    except SvcError:
        return []  # the failure matters more; its text says how to read the log


def reason_of(ended: CommandEnded, command: Command) -> str:
    """Return the service's reason for the end, without the client's prefix."""
    prefix = f"command {command.id} "
    reason = command.record.message or ended.message.removeprefix(f"{prefix}failed").removeprefix(
        f"{prefix}was cancelled"
    )
    return reason.removeprefix(": ").strip()


def failure(
    command_id: int,
    message: str,
    log: list[str],
    origin: Origin,
    seconds: float,
    *,
    cancelled: bool = False,
    log_of: int | None = None,
) -> Failure:
    """Return a failure in parts, from the service's message and the end of the log."""
    what = "was cancelled" if cancelled else "failed"
    cause, _, rest = message.partition("\n")
    words = [line for line in dedent(rest).split("\n") if line.strip()][:_MESSAGE_LINES]
    place_words = f"{origin.noun}, line "
    words = [line.strip() if line.lstrip().startswith(place_words) else line for line in words]
    words += [line for line in log if line.strip() not in message]
    place = origin.place("\n".join([message, *log])) if origin.text and not cancelled else None
    if any(line.startswith(place_words) for line in words):
        place = None  # the service has found it
    return Failure(
        command_id,
        cause,
        f"{what} after {duration(seconds)}",
        [line for line in words if line.strip().rstrip(".") != origin.target],
        origin,
        place,
        log_of=log_of,
        advice=[origin.advice] if origin.advice and not cancelled else [],
    )


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
class LinePosition:
    """A line of a text, counted from 1."""

    number: int
    line: str

    def __str__(self) -> str:
        shown = self.line.strip()
        return f"line {self.number}: {shown if len(shown) <= _LONGEST_SHOWN else shown[:_LONGEST_SHOWN] + ' …'}"


def position_of(message: str, text: str) -> LinePosition | None:
    """Return the line of `text` that an engine's message refers to, or None.

    A line number in the message takes precedence; otherwise the name or word that the message reports, if it occurs
    only once or on one line only.
    """
    lines = text.split("\n")
    numbered = _LINE_FIRST.search(message) or _QUERY_LINE.search(message)
    if numbered:
        number = int(numbered[1])
        if 1 <= number <= len(lines) and lines[number - 1].strip():
            return LinePosition(number, lines[number - 1])
        return None
    for pattern in _NAMED:
        found = pattern.search(message)
        if found:
            return _only_line_with(found[1].strip('"'), lines)
    return None


def script_position_of(message: str, text: str) -> LinePosition | None:
    """Return the line of a shell script that an error refers to, or None.

    Only the shell's last message counts, and only if the line contains the program that it names: other programs and
    nested shells count the lines of their own texts.
    """
    lines = text.split("\n")
    last = message.rstrip().rpartition("\n")[2]
    found = _NOT_FOUND.fullmatch(last.strip())
    if found is None or not 1 <= int(found[1]) <= len(lines):
        return None
    place = LinePosition(int(found[1]), lines[int(found[1]) - 1])
    return place if re.search(rf"(?<!\S){re.escape(found[2])}(?!\S)", place.line) else None


def _only_line_with(word: str, lines: list[str]) -> LinePosition | None:
    """Return the only line that contains a word (its last part when qualified); None when several do."""
    for candidate in dict.fromkeys((word, word.rpartition(".")[2])):
        whole = re.compile(rf"(?<!\w){re.escape(candidate)}(?!\w)", re.IGNORECASE)
        holding = [number for number, line in enumerate(lines, start=1) if whole.search(line)]
        if len(holding) == 1:
            return LinePosition(holding[0], lines[holding[0] - 1])
    return None
