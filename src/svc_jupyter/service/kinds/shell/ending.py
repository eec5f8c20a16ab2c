"""The message of a failed shell command: the cause first, in the script's own words."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

from svc_jupyter.service.commands.kind import Task
from svc_jupyter.service.kinds.shell.place import with_place

_TAIL_BYTES = 4096
_TAIL_LINES = 5
_LINE_CHARACTERS = 300
_SIGNALLED = 128
"""A shell reports a program that a signal ended as 128 + the signal's number."""
_LOG_START = "log_start"


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
    lines = _last_lines(task.log_file, _log_start(task))
    return "\n".join([how, *with_place(script, code, lines)])


def _log_start(task: Task) -> int:
    try:
        return int((task.folder / _LOG_START).read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return 0


def _last_lines(log: Path, start: int) -> list[str]:
    """Return the last few non-empty lines written after byte `start`."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            begin = max(start, size - _TAIL_BYTES)
            file.seek(begin)
            data = file.read(_TAIL_BYTES)
    except FileNotFoundError:
        return []
    lines = data.decode("utf-8", "replace").splitlines()
    if begin > start and len(lines) > 1:
        lines = lines[1:]  # its beginning is cut off
    filled = [line.rstrip()[:_LINE_CHARACTERS] for line in lines if line.strip()]
    return filled[-_TAIL_LINES:]
