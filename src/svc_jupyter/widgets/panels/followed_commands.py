"""Follow the commands that a panel has submitted to their ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svc_jupyter.durations import span
from svc_jupyter.widgets.panels.status_words import DONE, FAILED, RUNNING, STOPPED

if TYPE_CHECKING:
    from svc_jupyter.api.commands import CommandRecord
    from svc_jupyter.client import Command

_LONGEST = 5
"""Maximum number of commands shown, the latest ones."""


@dataclass
class _Followed:
    command: Command
    doing: str
    begun: float
    ended: float | None = None


class FollowedCommands:
    """Commands with a description (`adding 1 node`); each refresh polls those that have not ended."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._all: list[_Followed] = []

    @property
    def are_running(self) -> bool:
        """Whether any command has not ended."""
        return any(one.ended is None for one in self._all)

    def add(self, commands: Sequence[Command], doing: str) -> None:
        """Follow commands from now on; ended ones are forgotten."""
        self._all = [one for one in self._all if one.ended is None]
        self._all += [_Followed(command, doing, self._clock()) for command in commands]

    def refresh(self) -> None:
        """Fetch their status. Raises the client's errors."""
        for one in self._all:
            if one.ended is None and one.command.refresh().ended:
                one.ended = self._clock()

    def cancel(self) -> None:
        """Cancel the running ones. Raises the client's errors."""
        for one in self._all:
            if one.ended is None:
                one.command.cancel()

    def lines(self) -> list[str]:
        """Return a line for each, the latest last."""
        now = self._clock()
        return [_line(one.command.record, one.doing, (one.ended or now) - one.begun) for one in self._all[-_LONGEST:]]


def _line(record: CommandRecord, doing: str, seconds: float) -> str:
    """Return `◐ command 131 · adding 1 node · registered, waiting for RUNNING · 3 s`."""
    status = str(record.status)
    message = " ".join((record.message or "").split())
    suffix = f" · {message}" if message else ""
    time = span(seconds)
    match status:
        case "done":
            return f"{DONE} command {record.id} · {doing}: done in {time}{suffix}"
        case "error":
            return (
                f"{FAILED} command {record.id} · {doing}: failed after {time}{suffix} · %svc_command {record.id} logs"
            )
        case "cancelled":
            return f"{STOPPED} command {record.id} · {doing}: cancelled after {time}{suffix}"
        case _:
            return f"{RUNNING} command {record.id} · {doing}{suffix or f' · {status}'} · {time}"
