"""The wait for a command's end, across restarts of the service: when to ask, what to report, when to give up.

A service with the extensions holds its answer until the command ends; for a short text command that call also returns
the results. Other services, including those that ignore `wait`, are polled after 0.1 s, then at growing intervals up to
5 s. There is no time limit but the caller's; only a service that does not answer for `Retries.outage` seconds ends the
wait.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.commands.tracking import Tracked
from svc_jupyter.client.errors import (
    CommandCancelled,
    CommandEnded,
    CommandFailed,
    ConnectionFailed,
    EmbeddedServiceFailed,
    ServiceUnavailable,
    StatusError,
    SvcError,
    TooManyRequests,
    WaitTimeout,
)
from svc_jupyter.client.transport.retries import Retries
from svc_jupyter.terminal_text import plain

LONGEST_HOLD = 30
"""How long a service is asked to hold an answer, in seconds."""
UPDATE_EVERY = 1
"""The same while progress is displayed, so that it is updated."""
_FIRST_POLL, _LONGEST_POLL, _POLL_GROWTH = 0.1, 5.0, 1.5
_GATEWAY_STATUS = frozenset({502, 504})


@dataclass(frozen=True, slots=True)
class Update:
    """A progress report of a wait; `elapsed` and `outage` are seconds.

    `record` is the latest known one. `problem` is None, or why the service has not answered for `outage` seconds; the
    wait continues.
    """

    record: CommandRecord
    elapsed: float
    problem: str | None = None
    outage: float = 0.0


OnUpdate = Callable[[Update], None]


def failure(tracked: Tracked, log_line: str | None = None) -> CommandEnded:
    """Return the error for a command that did not end in `done`; `log_line` is the reason if there is no other."""
    record = tracked.record
    because = f": {reason}" if (reason := tracked.reason or plain(log_line or "")) else ""
    if record.status is CommandStatus.CANCELLED:
        return CommandCancelled(f"command {record.id} was cancelled{because}", record=record)
    return CommandFailed(f"command {record.id} failed{because}", record=record)


class Outage:
    """A period without answers: when to retry and when to give up."""

    def __init__(self, retries: Retries) -> None:
        self.seconds = 0.0
        self._retries = retries
        self._since: float | None = None
        self._failures = 0

    def over(self) -> None:
        """Record that the service answered."""
        self._since, self._failures, self.seconds = None, 0, 0.0

    def pause(self, error: SvcError) -> float:
        """Return the seconds until the next try; raise the error when it is permanent or lasts too long."""
        if not _passes(error):
            raise error
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self._failures += 1
        self.seconds = now - self._since
        if self.seconds > self._retries.outage:
            raise error
        asked = error.retry_after if isinstance(error, StatusError) else None
        return self._retries.backoff(self._failures) if asked is None else asked


class Wait:
    """The state of one wait: how long to hold, when to poll, what to report, when to give up."""

    def __init__(self, tracked: Tracked, timeout: float | None, on_update: OnUpdate | None) -> None:
        self.answers = 0
        self._tracked = tracked
        self._on_update = on_update
        self._started = time.monotonic()
        self._timeout = timeout
        self._next_poll = _FIRST_POLL
        self._outage = Outage(tracked._link.retries)

    def hold(self) -> int:
        """Return how many whole seconds the service may hold its answer; 0 without the extension."""
        if not self._tracked._link.extended:
            return 0
        return int(min(UPDATE_EVERY if self._on_update else LONGEST_HOLD, self._remaining()))

    def note_answer(self) -> None:
        """Record and report that the service answered."""
        self.answers += 1
        self._outage.over()
        self._report()

    def check_timeout(self) -> None:
        """Raise WaitTimeout when the caller's time is over."""
        if self._remaining() <= 0:
            record = self._tracked.record
            raise WaitTimeout(f"command {record.id} is still {record.status} after {self._timeout:g} s; it goes on")

    def pause_between_polls(self) -> float:
        """Return the seconds until the next poll, longer each time."""
        pause = min(self._next_poll, self._remaining())
        self._next_poll = min(self._next_poll * _POLL_GROWTH, _LONGEST_POLL)
        return pause

    def pause_in_outage(self, error: SvcError) -> float:
        """Return the seconds until the next try, or raise the error when it is permanent or lasts too long."""
        pause = self._outage.pause(error)
        self._report(error.message, self._outage.seconds)
        self.check_timeout()
        return min(pause, self._remaining())

    def _remaining(self) -> float:
        return math.inf if self._timeout is None else self._started + self._timeout - time.monotonic()

    def _report(self, problem: str | None = None, outage: float = 0.0) -> None:
        if self._on_update is not None:
            self._on_update(Update(self._tracked.record, time.monotonic() - self._started, problem, outage))


def _passes(error: SvcError) -> bool:
    """Return whether an error is temporary."""
    if isinstance(error, EmbeddedServiceFailed):
        return False
    if isinstance(error, StatusError):
        return isinstance(error, ServiceUnavailable | TooManyRequests) or error.status in _GATEWAY_STATUS
    return isinstance(error, ConnectionFailed)
