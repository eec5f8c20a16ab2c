"""The progress line of a command: its text (pure functions of a record) and its output.

A notebook shows it in one display that is replaced in place, a terminal rewrites one line, and an unattended run
(nbclient) keeps only the last line.
"""

from __future__ import annotations

import shutil
import sys
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from svc_jupyter.api.status_words import DONE, FAILED, RUNNING, STOPPED, type_word
from svc_jupyter.durations import duration, span
from svc_jupyter.magics.display.errors import SvcInterrupted
from svc_jupyter.magics.display.status import ended_html, running_html

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from svc_jupyter.api.commands import CommandRecord

SILENT_SECONDS = 0.3
"""A command that ends sooner shows no progress, to avoid flicker."""
LOG_MARK = "│"
INTERRUPT_HINT = "interrupt to cancel"


def going_line(
    record: CommandRecord | None, seconds: float, hint: str = INTERRUPT_HINT, before: str = "connecting"
) -> str:
    """Return the line of a command that has not ended; without a record, `before` it is submitted."""
    if record is None:
        return f"{RUNNING} {before} · {span(seconds)}"
    parts = [
        f"command {record.id}",
        type_word(record.command_type),
        _state(record),
        *_running_part(record),
        span(seconds),
    ]
    if record.result_rows:
        parts.append(f"{record.result_rows:,} {plural('row', record.result_rows)}")
    elif 0 < record.progress < 100:
        parts.append(f"{record.progress} %")
    return f"{RUNNING} {' · '.join([*parts, hint])}"


def reading_line(record: CommandRecord, seconds: float) -> str:
    """Return the line of a finished command whose result is being read."""
    rows = f"{record.result_rows:,} {plural('row', record.result_rows)}" if record.result_rows else "its result"
    return f"{RUNNING} command {record.id} · done, reading {rows} · {span(seconds)}"


def outage_line(record: CommandRecord, outage: float, problem: str) -> str:
    """Return the line of a command whose service does not answer at present."""
    return f"{RUNNING} command {record.id} · no answer from the service for {duration(outage)}, trying on: {problem}"


def _state(record: CommandRecord) -> str:
    """Return the state of the command; a waiting one with the service's reason, if given."""
    status = str(record.status)
    message = " ".join((record.message or "").split())
    if status == "waiting":
        return message or _why(record)
    place = f" on {record.label}" if record.label else ""
    return f"{status}{place}{f' ({message})' if message else ''}"


def _running_part(record: CommandRecord) -> list[str]:
    """Return which sub-command of a composite runs, derived from its progress, if the service has the extensions."""
    children = record.command.get("sub_commands") if isinstance(record.command, dict) else None
    if not children or str(record.status) != "running":
        return []
    total = len(children)
    if not has_extensions(record):
        return [f"{total} sub-commands"]
    number = min((record.progress * total + total - 1) // 100 + 1, total)  # the share of each is rounded down
    return [f"sub-command {number} of {total}: {type_word(children[number - 1].get('command_type'))}"]


def has_extensions(record: CommandRecord) -> bool:
    """Return whether the service of a command is one of ours."""
    return "attempts" in record.model_fields_set


def _why(record: CommandRecord) -> str:
    return "waiting for a free slot" if record.throttled else "waiting"


def done_line(command_id: int, seconds: float | None, parts: list[str]) -> str:
    """Return the final line after a success; `parts` describe the result.

    `seconds` is None for a command that had ended before the cell asked for it.
    """
    took = "done" if seconds is None else duration(seconds)
    return f"{DONE} {' · '.join([f'command {command_id}', took, *parts])}"


def failed_line(command_id: int, what: str, *, cancelled: bool = False) -> str:
    """Return the final line after a failure, which `what` describes; the cell's error below it has the cause."""
    return f"{STOPPED if cancelled else FAILED} command {command_id} · {what}"


def lost_line(command_id: int, *, reading: bool) -> str:
    """Return the line of a command that the cell could not follow to its end; the cell's error is below it."""
    what = "done, its result could not be read" if reading else "its end is not known"
    return f"{FAILED} command {command_id} · {what}"


def plural(noun: str, count: int) -> str:
    """Return the noun in singular or plural, by the count."""
    return noun if count == 1 else f"{noun}s"


class Line(Protocol):
    """The destination of progress."""

    animates: bool
    """Whether the front end displays intermediate lines."""
    is_shown: bool
    """Whether the last line is displayed."""
    shows_failures: bool
    """Whether the line of a failed command stays, with its links; elsewhere the cell's error alone reports it."""

    def replace(self, text: str, log: Sequence[str] = (), data: Mapping[str, Any] | None = None) -> None:
        """Replace the current line, and below it the last lines of the log; `data` as in `finish`."""

    def finish(self, text: str, data: Mapping[str, Any] | None = None, log: Sequence[str] = ()) -> None:
        """Show the last line, which stays; `data` are further representations by media type.

        The end of the log is folded away, where that is possible.
        """

    def clear(self) -> None:
        """Remove the line where that is possible."""


class NoLine:
    """A line that writes nothing (`--quiet`)."""

    animates = False
    is_shown = False
    shows_failures = False

    def replace(self, text: str, log: Sequence[str] = (), data: Mapping[str, Any] | None = None) -> None:
        """Do nothing."""

    def finish(self, text: str, data: Mapping[str, Any] | None = None, log: Sequence[str] = ()) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""


class DisplayLine:
    """A display of a notebook, created when first needed and then updated."""

    is_shown = True

    def __init__(self, publisher: Any, *, animates: bool) -> None:
        self.animates = animates
        self.shows_failures = animates
        self._publisher = publisher
        self._display_id: str | None = None
        self._shown: dict[str, Any] = {}

    def replace(self, text: str, log: Sequence[str] = (), data: Mapping[str, Any] | None = None) -> None:
        """Update the display if it has changed."""
        plain = "\n".join([text, *(f"{LOG_MARK} {line}" for line in log)])
        self._publish({"text/plain": plain, "text/html": running_html(text, log), **(data or {})})

    def finish(self, text: str, data: Mapping[str, Any] | None = None, log: Sequence[str] = ()) -> None:
        """Replace the display by the last line; as HTML the log unfolds below it."""
        self._publish({"text/plain": text, "text/html": ended_html(text, log), **(data or {})})

    def clear(self) -> None:
        """Replace the display by nothing."""
        if self._display_id is not None:
            self._publish({"text/plain": ""})

    def _publish(self, data: dict[str, Any]) -> None:
        if data == self._shown:
            return
        update = self._display_id is not None
        if self._display_id is None:
            self._display_id = uuid.uuid4().hex
        self._shown = data
        self._publisher.publish(data=data, metadata={}, transient={"display_id": self._display_id}, update=update)


class TerminalLine:
    """A terminal line, rewritten in place; without icons, and without updates when the output is not a terminal."""

    is_shown = True
    shows_failures = False

    def __init__(self) -> None:
        self.animates = sys.stdout.isatty()
        self._width = 0

    def replace(self, text: str, log: Sequence[str] = (), data: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        """Rewrite the line, cut to the terminal's width; the log's last line is at its end."""
        columns = shutil.get_terminal_size().columns
        last = f" {LOG_MARK} {log[-1]}" if log else ""
        self._write(f"{_plain(text)}{last}"[: columns - 1])

    def finish(self, text: str, data: Mapping[str, Any] | None = None, log: Sequence[str] = ()) -> None:  # noqa: ARG002
        """Write the complete last line and a line feed."""
        self._write(_plain(text))
        sys.stdout.write("\n")
        sys.stdout.flush()
        self._width = 0

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            self._write("")
            sys.stdout.write("\r")
            sys.stdout.flush()

    def _write(self, text: str) -> None:
        padding = " " * max(self._width - len(text), 0)
        start = "\r" if self._width else ""
        sys.stdout.write(_encodable(f"{start}{text}{padding}"))
        sys.stdout.flush()
        self._width = len(text)


def _plain(text: str) -> str:
    """Return a line without its icon."""
    return text[2:] if text[:1] in (RUNNING, DONE, STOPPED, FAILED) else text


def _encodable(text: str) -> str:
    """Return the text with characters outside the terminal's encoding replaced."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def interrupted(
    line: Line, text: str, data: Mapping[str, Any] | None = None, log: Sequence[str] = ()
) -> SvcInterrupted:
    """Write the line about an interrupt, and return the error, which has the text if no line can be shown."""
    line.finish(f"{STOPPED} {text}", data, log)
    return SvcInterrupted(text, is_shown=line.is_shown)


def line_for(shell: InteractiveShell, *, quiet: bool = False) -> Line:
    """Return the line for a shell's front end."""
    if quiet:
        return NoLine()
    if in_kernel(shell):
        return DisplayLine(shell.display_pub, animates=is_watched(shell))
    return TerminalLine()


def in_kernel(shell: InteractiveShell) -> bool:
    """Whether the shell is a kernel's: its output goes to a front end, not to a terminal."""
    return hasattr(shell, "kernel")


def is_watched(shell: InteractiveShell) -> bool:
    """Whether a user may be watching: the front end accepts input requests, unlike nbclient."""
    get_parent = getattr(shell, "get_parent", None)
    parent = get_parent() if get_parent else None
    return bool((parent or {}).get("content", {}).get("allow_stdin", True))
