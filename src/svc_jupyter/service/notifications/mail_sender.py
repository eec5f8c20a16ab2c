"""E-mails: one after the other over one connection to the operator's mail server."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.bus import Bus
from svc_jupyter.service.database import Database
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.delivery import SmtpSession, deliver, smtp_session
from svc_jupyter.service.notifications.mail import compose
from svc_jupyter.service.notifications.outbox import Letter
from svc_jupyter.service.notifications.rendering import notice_of
from svc_jupyter.service.notifications.senders import Sender
from svc_jupyter.service.settings import Settings

_ANSWERS_PER_ATTEMPT = 10
"""How many answers of the server, each as slow as the settings allow, an attempt may take."""


class MailSender(Sender):
    """Sends the outbox's e-mails."""

    def __init__(self, settings: Settings, database: Database, bus: Bus, clock: Callable[[], float]) -> None:
        attempt_seconds = settings.smtp_timeout_seconds * _ANSWERS_PER_ATTEMPT
        super().__init__(ChannelType.EMAIL, database, bus, clock, attempt_seconds=attempt_seconds)
        self._settings = settings

    async def _round(self) -> None:
        """Send what is due now.

        What becomes due meanwhile is for the next round, so that a round in which the server is down comes to its end
        and the next one asks it again.
        """
        due_by = self._clock()
        async with smtp_session(self._settings) as session:
            while not self._stopping and (letter := await self._claim(due_by=due_by)) is not None:
                await self._send(letter, self._mail(letter, session))

    async def _next_time(self) -> float | None:
        return await self._database.read(partial(outbox.next_time, medium=self._medium))

    async def _mail(self, letter: Letter, session: SmtpSession) -> None:
        message = compose(
            notice_of(letter.content, public_url=self._settings.public_url),
            sender=self._settings.smtp_sender,
            recipient=letter.recipient,
            delivery_id=letter.delivery_id,
            created_at=letter.created_at,
        )
        await deliver(session, message, letter.recipient, within=self._attempt_seconds)
