"""Sends the outbox's messages, in any medium.

A message is sent at least once, and more than once only when the service dies (or loses the connection) after the
server's acceptance and before the message is marked as sent: then it is repeated with the same id, by which mail
systems, readers and receivers recognise the duplicate. Sending at most once would silently lose messages in that gap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from functools import partial

import sqlalchemy as sa
import structlog

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.errors import Unavailable
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.outbox import QueuedMessage
from svc_jupyter.service.notifications.rounds import RETRY_SECONDS, Rounds

_CLAIM_MARGIN_SECONDS = 60.0
log = structlog.get_logger(__name__)


class Sender(Rounds):
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
