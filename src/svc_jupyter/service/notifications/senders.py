"""Sending what is in the outbox, whatever the medium.

A message is sent at least once, and more than once only when the service dies (or loses the other side) between the
other side's taking it on and its being marked as sent: then again under the same id, by which mail systems, readers
and receivers know it for the same. Sending at most once would lose messages in that gap, which nobody would notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from functools import partial

import sqlalchemy as sa
import structlog

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Unavailable
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.outbox import Letter
from svc_jupyter.service.notifications.rounds import RETRY_SECONDS, Rounds

_CLAIM_MARGIN_SECONDS = 60.0
log = structlog.get_logger(__name__)


class Sender(Rounds):
    """Claims the messages of one medium, and marks what became of them."""

    def __init__(
        self, medium: ChannelType, database: Database, bus: Bus, clock: Callable[[], float], *, attempt_seconds: float
    ) -> None:
        super().__init__(medium.value, database, bus, clock)
        self._medium = medium
        self._attempt_seconds = attempt_seconds
        """The longest an attempt may take; nobody else claims its message for as long."""

    async def _claim(self, *, due_by: float, apart_from: Collection[str] = ()) -> Letter | None:
        """Return the next message that was due by a moment, to none of the recipients that are left alone."""

        def work(connection: sa.Connection) -> Letter | None:
            until = self._clock() + self._attempt_seconds + _CLAIM_MARGIN_SECONDS
            return outbox.claim(connection, self._medium, due_by=due_by, until=until, apart_from=apart_from)

        return await self._database.write(work)

    async def _send(self, letter: Letter, delivery: Coroutine[None, None, None]) -> None:
        """Perform the delivery of a claimed message and mark what became of it."""
        try:
            await delivery
        except NotDelivered as failure:
            await self._mark_failed(letter, failure)
        except Exception:
            log.exception("notification_broken", about=letter.event)
            await self._mark_failed(letter, NotDelivered("an error of the service itself; its log has the details"))
        else:
            await self._mark(partial(outbox.mark_sent, letter=letter, now=self._clock()))
            log.info("notification_sent", about=letter.event, medium=self.name, attempt=letter.attempt)

    async def _mark_failed(self, letter: Letter, failure: NotDelivered) -> None:
        again_at = None
        if failure.may_retry:
            again_at = outbox.next_attempt_at(
                created_at=letter.created_at,
                attempt=letter.attempt,
                now=self._clock(),
                retry_after=failure.retry_after,
            )
        event = "notification_given_up" if again_at is None else "notification_failed"
        reason = str(failure)
        log.warning(event, about=letter.event, medium=self.name, attempt=letter.attempt, reason=reason)
        await self._mark(partial(outbox.mark_failed, letter=letter, reason=reason, again_at=again_at))

    async def _mark(self, work: Callable[[sa.Connection], None]) -> None:
        """Write what became of a message, however long the database is away: it must not be sent twice."""
        while True:
            try:
                await self._database.write(work)
            except Unavailable:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return
