"""Runs work when it is due, and sends the outbox's messages, in any medium.

A message is sent at least once, and more than once only when the service dies (or loses the connection) after the
server's acceptance and before the message is marked as sent: then it is repeated with the same id, by which mail
systems, readers and receivers recognise the duplicate. Sending at most once would silently lose messages in that gap.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine
from functools import partial

import sqlalchemy as sa
import structlog

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.outbox import QueuedMessage

NOTIFY = "notify"
"""Topic that announces work; the payload is the name of the rounds with work."""
RETRY_SECONDS = 1.0
"""Seconds between two attempts while the database is away."""
_LOOK_SECONDS = 300.0
"""How often to check without an announcement: one may be lost, and the clocks of a suspended machine differ."""
_SHORTEST_PAUSE_SECONDS = 0.1
_STOP_SECONDS = 5.0
"""How long a stop waits for work in progress."""
_CLAIM_MARGIN_SECONDS = 60.0
log = structlog.get_logger(__name__)


class NotDelivered(Exception):
    """The receiving server did not accept a message; the text is the reason, without any secret."""

    def __init__(self, reason: str, *, may_retry: bool = True, retry_after: float = 0.0) -> None:
        super().__init__(reason)
        self.may_retry = may_retry
        """False when another attempt must fail as well."""
        self.retry_after = retry_after
        """Seconds until the next attempt that the server requested."""


class DueWork(ABC):
    """Runs `_round` whenever something is due."""

    def __init__(self, name: str, database: Database, bus: Bus, clock: Callable[[], float]) -> None:
        self.name = name
        self._database = database
        self._clock = clock
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        bus.subscribe(NOTIFY, self._on_announcement)

    async def start(self) -> None:
        """Start, first with what an earlier service left."""
        self._task = asyncio.create_task(self._go_round_forever(), name=f"notifications of {self.name}")

    async def stop(self) -> None:
        """Start no further work; what is in progress has a few seconds, otherwise the next service retries it."""
        self._stopping = True
        self._wake.set()
        tasks = self._tasks()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @abstractmethod
    async def _round(self) -> None:
        """Do what is due now. What becomes due meanwhile waits for the next round."""

    @abstractmethod
    async def _next_time(self) -> float | None:
        """Return the next due time in Unix seconds; None when no work is left."""

    def _tasks(self) -> set[asyncio.Task[None]]:
        return set() if self._task is None else {self._task}

    def _on_announcement(self, payload: str) -> None:
        if payload in ("", self.name):
            self._wake.set()

    async def _go_round_forever(self) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                await self._round()
                pause = await self._pause()
            except Unavailable:
                log.warning("notifications_wait_for_database", of=self.name)
                pause = RETRY_SECONDS
            except Exception:
                log.exception("notifications_interrupted", of=self.name)
                pause = _LOOK_SECONDS
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    async def _pause(self) -> float | None:
        """Return the seconds until the next due time; None when there is nothing to wait for but an announcement."""
        next_time = await self._next_time()
        if next_time is None:
            return None if self._database.on_sqlite else _LOOK_SECONDS
        return min(max(next_time - self._clock(), _SHORTEST_PAUSE_SECONDS), _LOOK_SECONDS)


class Sender(DueWork):
    """Claims the messages of one medium, and records their outcomes."""

    def __init__(
        self, medium: ChannelType, database: Database, bus: Bus, clock: Callable[[], float], *, attempt_seconds: float
    ) -> None:
        super().__init__(medium.value, database, bus, clock)
        self._medium = medium
        self._attempt_seconds = attempt_seconds
        """The longest duration of an attempt; no other replica claims its message for that time."""

    async def _claim(self, *, due_by: float, apart_from: Collection[str] = ()) -> QueuedMessage | None:
        """Return the next message that was due by a moment, skipping the recipients that are on hold."""

        def work(connection: sa.Connection) -> QueuedMessage | None:
            until = self._clock() + self._attempt_seconds + _CLAIM_MARGIN_SECONDS
            return outbox.claim(connection, self._medium, due_by=due_by, until=until, apart_from=apart_from)

        return await self._database.write(work)

    async def _send(self, queued: QueuedMessage, delivery: Coroutine[None, None, None]) -> None:
        """Send a claimed message and record the outcome."""
        try:
            await delivery
        except NotDelivered as failure:
            await self._mark_failed(queued, failure)
        except Exception:
            log.exception("notification_broken", about=queued.event)
            await self._mark_failed(queued, NotDelivered("an error of the service itself; its log has the details"))
        else:
            await self._mark(partial(outbox.mark_sent, queued=queued, now=self._clock()))
            log.info("notification_sent", about=queued.event, medium=self.name, attempt=queued.attempt)

    async def _mark_failed(self, queued: QueuedMessage, failure: NotDelivered) -> None:
        again_at = None
        if failure.may_retry:
            again_at = outbox.next_attempt_at(
                created_at=queued.created_at,
                attempt=queued.attempt,
                now=self._clock(),
                retry_after=failure.retry_after,
            )
        event = "notification_given_up" if again_at is None else "notification_failed"
        reason = str(failure)
        log.warning(event, about=queued.event, medium=self.name, attempt=queued.attempt, reason=reason)
        await self._mark(partial(outbox.mark_failed, queued=queued, reason=reason, again_at=again_at))

    async def _mark(self, work: Callable[[sa.Connection], None]) -> None:
        """Record the outcome of a message, however long the database is away: it must not be sent twice."""
        while True:
            try:
                await self._database.write(work)
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return
