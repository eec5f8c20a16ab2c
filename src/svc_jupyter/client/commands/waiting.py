"""Wait for a command's end, across restarts of the service: one conversation for both clients.

A service with the extensions holds its answer until the command ends; for a short text command that call also returns
the results. Other services, including those that ignore `wait`, are polled after 0.1 s, then at growing intervals up to
5 s. There is no time limit but the caller's; only a service that does not answer for `Retries.outage` seconds ends the
wait.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from svc_jupyter.api.commands import CommandRecord
from svc_jupyter.api.states import CommandStatus
from svc_jupyter.client.commands.tracking import Tracked, refresh, refresh_with_results
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
from svc_jupyter.client.transport.calls import Flow, Pause
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


def until_ended(
    tracked: Tracked,
    timeout: float | None = None,
    on_update: OnUpdate | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Flow[None]:
    """Wait until the command's status is final. Raises WaitTimeout after `timeout` seconds."""
    wait = _Wait(tracked, timeout, on_update, clock)
    while not tracked.ended:
        hold, asked = wait.hold(), clock()
        try:
            if hold and not wait.answers and not tracked.may_have_typed_results:
                yield from refresh_with_results(tracked, hold)
            else:
                yield from refresh(tracked, hold, patient=False)
        except (ConnectionFailed, StatusError) as error:
            yield Pause(wait.pause_in_outage(error))
            continue
        wait.note_answer()
        if not tracked.ended:
            wait.check_timeout()
            held = hold > 0 and clock() - asked >= hold / 2
            if not held:
                yield Pause(wait.pause_between_polls())


def learn_the_end(tracked: Tracked) -> Flow[None]:
    """Fetch the details of a command that did not end in `done`."""
    with suppress(ConnectionFailed, StatusError):  # only adds detail to a known end
        yield from refresh(tracked)


def failure(tracked: Tracked, log_line: str | None = None) -> CommandEnded:
    """Return the error for a command that did not end in `done`; `log_line` is the reason if there is no other."""
    record = tracked.record
    because = f": {reason}" if (reason := tracked.reason or plain(log_line or "")) else ""
    if record.status is CommandStatus.CANCELLED:
        return CommandCancelled(f"command {record.id} was cancelled{because}", record=record)
    return CommandFailed(f"command {record.id} failed{because}", record=record)


class Outage:
    """A period without answers: when to retry and when to give up."""

    def __init__(self, retries: Retries, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = 0.0
        self._retries = retries
        self._clock = clock
        self._since: float | None = None
        self._failures = 0

    def over(self) -> None:
        """Record that the service answered."""
        self._since, self._failures, self.seconds = None, 0, 0.0

    def pause(self, error: SvcError) -> float:
        """Return the seconds until the next try; raise the error when it is permanent or lasts too long."""
        if not _passes(error):
            raise error
        now = self._clock()
        self._since = now if self._since is None else self._since
        self._failures += 1
        self.seconds = now - self._since
        if self.seconds > self._retries.outage:
            raise error
        asked = error.retry_after if isinstance(error, StatusError) else None
        return self._retries.backoff(self._failures) if asked is None else asked


class _Wait:
    """The state of one wait: how long to hold, when to poll, what to report, when to give up."""

    def __init__(
        self, tracked: Tracked, timeout: float | None, on_update: OnUpdate | None, clock: Callable[[], float]
    ) -> None:
        self.answers = 0
        self._tracked = tracked
        self._on_update = on_update
        self._clock = clock
        self._started = clock()
        self._timeout = timeout
        self._next_poll = _FIRST_POLL
        self._outage = Outage(tracked._link.retries, clock)

    def hold(self) -> int:
        """Return how many whole seconds the service may hold its answer; 0 without the extension."""
        if not self._tracked._link.extended:
            return 0
        return int(min(UPDATE_EVERY if self._on_update else LONGEST_HOLD, self._remaining()))

    def note_answer(self) -> None:
        self.answers += 1
        self._outage.over()
        self._report()

    def check_timeout(self) -> None:
        if self._remaining() <= 0:
            record = self._tracked.record
            raise WaitTimeout(f"command {record.id} is still {record.status} after {self._timeout:g} s; it goes on")

    def pause_between_polls(self) -> float:
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
        return math.inf if self._timeout is None else self._started + self._timeout - self._clock()

    def _report(self, problem: str | None = None, outage: float = 0.0) -> None:
        if self._on_update is not None:
            self._on_update(Update(self._tracked.record, self._clock() - self._started, problem, outage))


def _passes(error: SvcError) -> bool:
    """Return whether an error is temporary."""
    if isinstance(error, EmbeddedServiceFailed):
        return False
    if isinstance(error, StatusError):
        return isinstance(error, ServiceUnavailable | TooManyRequests) or error.status in _GATEWAY_STATUS
    return isinstance(error, ConnectionFailed)
