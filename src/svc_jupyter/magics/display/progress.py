"""The one line that tells how a command goes: its words (pure functions of a record) and where it is written.

A notebook shows it in one display that is replaced in place, a terminal rewrites one line, and a run that nobody
watches (nbclient) keeps the last line only.
"""

from __future__ import annotations

import shutil
import sys
import uuid
from typing import TYPE_CHECKING, Any, Protocol

from svc_jupyter.magics.display.errors import SvcInterrupted
from svc_jupyter.widgets.panels.status_words import DONE, FAILED, RUNNING, STOPPED

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from svc_jupyter.api.commands import CommandRecord

SILENT_SECONDS = 0.3
"""A command that ends sooner shows no progress: nothing flickers."""
INTERRUPT_HINT = "interrupt to cancel"


def going_line(
    record: CommandRecord | None, seconds: float, hint: str = INTERRUPT_HINT, before: str = "connecting"
) -> str:
    """Return the line of a command that has not ended; without a record it is not even submitted (`before`)."""
    if record is None:
        return f"{RUNNING} {before} · {clock(seconds)}"
    parts = [f"command {record.id}", record.command_type, _state(record), *_running_part(record), clock(seconds)]
    if record.result_rows:
        parts.append(f"{record.result_rows:,} {plural('row', record.result_rows)}")
    elif 0 < record.progress < 100:
        parts.append(f"{record.progress} %")
    return f"{RUNNING} {' · '.join([*parts, hint])}"


def reading_line(record: CommandRecord, seconds: float) -> str:
    """Return the line of a command that is done and whose result is on its way."""
    rows = f"{record.result_rows:,} {plural('row', record.result_rows)}" if record.result_rows else "its result"
    return f"{RUNNING} command {record.id} · done, reading {rows} · {clock(seconds)}"


def outage_line(record: CommandRecord, outage: float, problem: str) -> str:
    """Return the line of a command whose service gives no answer at present."""
    return f"{RUNNING} command {record.id} · no answer from the service for {duration(outage)}, trying on: {problem}"


def _state(record: CommandRecord) -> str:
    """Return what the command does; one that waits says why, in the service's words where it gave any."""
    status = str(record.status)
    message = " ".join((record.message or "").split())
    if status == "waiting":
        return message if message.startswith("waiting") else f"waiting: {message}" if message else _why(record)
    place = f" on {record.label}" if record.label else ""
    return f"{status}{place}{f' ({message})' if message else ''}"


def _running_part(record: CommandRecord) -> list[str]:
    """Return which sub-command of a composite runs, as its progress tells where a service has the extensions."""
    children = record.command.get("sub_commands") if isinstance(record.command, dict) else None
    if not children or str(record.status) != "running":
        return []
    total = len(children)
    if "attempts" not in record.model_fields_set:
        return [f"{total} sub-commands"]
    number = min((record.progress * total + total - 1) // 100 + 1, total)  # the share of each is rounded down
    return [f"sub-command {number} of {total}: {children[number - 1].get('command_type')}"]


def _why(record: CommandRecord) -> str:
    return "waiting for a free slot" if record.throttled else "waiting"


def done_line(command_id: int, seconds: float | None, parts: list[str]) -> str:
    """Return the line that stays in the notebook after a success; `parts` tell what came out.

    `seconds` is None for a command that had ended before the cell asked for it.
    """
    done = "done" if seconds is None else f"done in {duration(seconds)}"
    return f"{DONE} {' · '.join([f'command {command_id}', done, *parts])}"


def failed_line(command_id: int, seconds: float) -> str:
    """Return the line of a command that failed; the error itself follows as the cell's error."""
    return f"{FAILED} command {command_id} · failed after {duration(seconds)}"


def plural(noun: str, count: int) -> str:
    """Return the noun in the number that goes with the count."""
    return noun if count == 1 else f"{noun}s"


def clock(seconds: float) -> str:
    """Return running time as `00:04` or `1:02:03`."""
    whole = int(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def duration(seconds: float) -> str:
    """Return an elapsed time as `12 ms`, `4.2 s`, `2 min 5 s` or `3 h 4 min`."""
    if seconds < 0.1:
        return f"{max(round(seconds * 1000), 1)} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


class Line(Protocol):
    """Where progress is written."""

    animates: bool
    """Whether somebody sees lines that are replaced."""
    is_shown: bool
    """Whether the last line is to be seen."""

    def replace(self, text: str) -> None:
        """Show how it stands now."""

    def finish(self, text: str) -> None:
        """Show the last line, which stays."""


class NoLine:
    """Writes nothing (`--quiet`)."""

    animates = False
    is_shown = False

    def replace(self, text: str) -> None:
        """Write nothing."""

    def finish(self, text: str) -> None:
        """Write nothing."""


class DisplayLine:
    """One display of a notebook, made when first needed and replaced from then on."""

    is_shown = True

    def __init__(self, publisher: Any, *, animates: bool) -> None:
        self.animates = animates
        self._publisher = publisher
        self._display_id: str | None = None
        self._text = ""

    def replace(self, text: str) -> None:
        """Show how it stands now, when that is something new."""
        if text == self._text:
            return
        update = self._display_id is not None
        if self._display_id is None:
            self._display_id = uuid.uuid4().hex
        self._text = text
        self._publisher.publish(
            data={"text/plain": text}, metadata={}, transient={"display_id": self._display_id}, update=update
        )

    def finish(self, text: str) -> None:
        """Put the last line in the place of the others."""
        self.replace(text)


class TerminalLine:
    """One line of a terminal, rewritten; without pictures, and without updates where the output is no terminal."""

    is_shown = True

    def __init__(self) -> None:
        self.animates = sys.stdout.isatty()
        self._width = 0

    def replace(self, text: str) -> None:
        """Rewrite the line, cut to the terminal's width so that it stays one line."""
        columns = shutil.get_terminal_size().columns
        self._write(_plain(text)[: columns - 1])

    def finish(self, text: str) -> None:
        """Write the whole last line and go to the next one."""
        self._write(_plain(text))
        sys.stdout.write("\n")
        sys.stdout.flush()
        self._width = 0

    def _write(self, text: str) -> None:
        padding = " " * max(self._width - len(text), 0)
        start = "\r" if self._width else ""
        sys.stdout.write(_encodable(f"{start}{text}{padding}"))
        sys.stdout.flush()
        self._width = len(text)


def _plain(text: str) -> str:
    """Return a line without its picture."""
    return text[2:] if text[:1] in (RUNNING, DONE, STOPPED, FAILED) else text


def _encodable(text: str) -> str:
    """Return the text with what the terminal's encoding lacks replaced."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def interrupted(line: Line, text: str) -> SvcInterrupted:
    """Leave the line that says what came of an interrupt, and return the error, which says it where no line can."""
    line.finish(f"{STOPPED} {text}")
    return SvcInterrupted(text, is_told=line.is_shown)


def line_for(shell: InteractiveShell, *, quiet: bool = False) -> Line:
    """Return the line that fits the front end of a shell."""
    if quiet:
        return NoLine()
    if in_kernel(shell):
        return DisplayLine(shell.display_pub, animates=is_watched(shell))
    return TerminalLine()


def in_kernel(shell: InteractiveShell) -> bool:
    """Whether the shell is a kernel's: its output goes to a front end, not to this process's terminal."""
    return hasattr(shell, "kernel")


def is_watched(shell: InteractiveShell) -> bool:
    """Whether a person is at the kernel's front end: one that could be asked for input, unlike nbclient."""
    get_parent = getattr(shell, "get_parent", None)
    parent = get_parent() if get_parent else None
    return bool((parent or {}).get("content", {}).get("allow_stdin", True))
