"""The one readable error of a command that did not end well: the cause first, the engine's words, the place."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

from svc_jupyter.magics.errors import SvcCommandCancelled, SvcCommandFailed
from svc_jupyter.magics.places import place_of
from svc_jupyter.magics.progress import duration

if TYPE_CHECKING:
    from svc_jupyter.client import Command
    from svc_jupyter.client.errors import CommandEnded

_LOG_LINES = 10
_MESSAGE_LINES = 12


@dataclass
class Origin:
    """Where a command came from: what its text is called (`query`, `script`), the text, and what it ran on.

    `target` is known only once the submission has found it.
    """

    noun: str
    text: str = ""
    target: str = ""


def failure_of(ended: CommandEnded, command: Command, origin: Origin, seconds: float) -> SvcCommandFailed:
    """Return the error for a command that failed or was cancelled.

    Fetches the end of the log where the service gives no reason, or of a script no more than its exit code.
    """
    from svc_jupyter.client.errors import CommandCancelled

    cancelled = isinstance(ended, CommandCancelled)
    message = reason_of(ended, command)
    told = "\n" in message if origin.noun == "script" else bool(message)
    log = [] if cancelled or told else _end_of_log(command)
    if not message and log:
        message = log.pop()  # tools say last why they gave up
    text = failure_text(command.id, message, log, origin, seconds, cancelled=cancelled)
    kind = SvcCommandCancelled if cancelled else SvcCommandFailed
    return kind(text, command.id)


def _end_of_log(command: Command) -> list[str]:
    from svc_jupyter.client.errors import SvcError

    try:
        return [line for line in command.log_tail(_LOG_LINES).splitlines() if line.strip()]
    except SvcError:
        return []  # the failure is what matters; its text names the way to the log


def reason_of(ended: CommandEnded, command: Command) -> str:
    """Return the service's words for how the command ended, without the client's introduction."""
    prefix = f"command {command.id} "
    told = command.record.message or ended.message.removeprefix(f"{prefix}failed").removeprefix(
        f"{prefix}was cancelled"
    )
    return told.removeprefix(": ").strip()


def failure_text(
    command_id: int, message: str, log: list[str], origin: Origin, seconds: float, *, cancelled: bool = False
) -> str:
    """Return the error's text: the first line is the cause, the last one the next step."""
    what = "was cancelled" if cancelled else "failed"
    cause, _, rest = message.partition("\n")
    words = [line for line in dedent(rest).split("\n") if line.strip()][:_MESSAGE_LINES]
    words += [line for line in log if line.strip() not in message]
    place = place_of("\n".join([message, *log]), origin.text) if origin.text and not cancelled else None
    if place is not None and not any(line.startswith(f"{origin.noun}, line ") for line in words):
        words.append(f"{origin.noun}, {place}")
    lines = [f"command {command_id} {what} after {duration(seconds)}{f': {cause}' if cause else ''}"]
    lines += [f"  {line}" for line in words if line.rstrip(".") != origin.target]
    target = f"{origin.target}. " if origin.target else ""
    lines.append(f"  {target}Log: %svc_command {command_id} logs")
    return "\n".join(lines)
