"""Sends webhooks: several channels concurrently, each channel's messages one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.secrets import SecretBox
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.outbox import QueuedMessage
from svc_jupyter.service.notifications.senders import Sender
from svc_jupyter.service.notifications.webhook_body import webhook_body
from svc_jupyter.service.notifications.webhooks import Webhooks
from svc_jupyter.service.schema.notifications import channels

_AT_ONCE = 8
_REST_SECONDS = 60.0
"""How long a channel is on hold after its server failed, whatever else waits for it."""
_LONGEST_REST_SECONDS = 3600.0
"""Upper limit for a server's Retry-After: an edit may change the server."""
log = structlog.get_logger(__name__)


class WebhookSender(Sender):
    """Posts the outbox's messages to webhook channels. A slow or dead server delays only its own channel."""

    def __init__(
        self, settings: Settings, database: Database, bus: Bus, secrets: SecretBox, clock: Callable[[], float]
    ) -> None:
        attempt_seconds = settings.webhook_timeout_seconds
        super().__init__(ChannelType.WEBHOOK, database, bus, clock, attempt_seconds=attempt_seconds)
        self._public_url = settings.public_url
        self._secrets = secrets
        self._webhooks = Webhooks(within=attempt_seconds, may_be_private=settings.addresses_may_be_private, clock=clock)
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._rests_until: dict[str, float] = {}

    async def _round(self) -> None:
        """Start sending what is due now; a message's end starts the next round."""
        while not self._stopping and len(self._under_way) < _AT_ONCE:
            queued = await self._claim(due_by=self._clock(), apart_from=self._left_alone())
            if queued is None:
                return
            task = asyncio.create_task(self._post_one(queued), name=f"webhook {queued.recipient}")
            self._under_way[queued.recipient] = task

    async def _next_time(self) -> float | None:
        left_alone = self._left_alone()
        due = await self._database.read(partial(outbox.next_time, medium=self._medium, apart_from=left_alone))
        if len(self._under_way) >= _AT_ONCE:
            due = None  # the end of one of them wakes it
        return min((moment for moment in (due, *self._rests_until.values()) if moment is not None), default=None)

    def _tasks(self) -> set[asyncio.Task[None]]:
        return super()._tasks() | set(self._under_way.values())

    def _left_alone(self) -> list[str]:
        now = self._clock()
        self._rests_until = {channel: until for channel, until in self._rests_until.items() if until > now}
        return [*self._under_way, *self._rests_until]

    async def _post_one(self, queued: QueuedMessage) -> None:
        try:
            await self._send(queued, self._post(queued))
        except Exception:
            log.exception("notifications_interrupted", of=self.name)
        finally:
            del self._under_way[queued.recipient]
            self._wake.set()

    async def _post(self, queued: QueuedMessage) -> None:
        url = await self._url(int(queued.recipient))
        body = webhook_body(queued.content, delivery_id=queued.delivery_id, public_url=self._public_url)
        try:
            await self._webhooks.post(url, body, delivery_id=queued.delivery_id, event=body["event"])
        except NotDelivered as failure:
            if failure.may_retry:
                rest = min(max(_REST_SECONDS, failure.retry_after), _LONGEST_REST_SECONDS)
                self._rests_until[queued.recipient] = self._clock() + rest
            raise

    async def _url(self, channel_id: int) -> str:
        """Return the channel's current URL; an edit applies to waiting messages, too."""
        row: Any = await self._database.read(
            lambda connection: connection.execute(
                sa.select(channels.c.sealed_url).where(channels.c.id == channel_id)
            ).one_or_none()
        )
        if row is None:
            raise NotDelivered(f"notification channel {channel_id} was deleted", may_retry=False)
        if row.sealed_url is None:
            raise NotDelivered(f"notification channel {channel_id} is no webhook any more", may_retry=False)
        try:
            return self._secrets.open(row.sealed_url)
        except ValueError as error:
            raise NotDelivered(str(error)) from error
