"""Sends e-mails one after the other over one connection to the operator's mail server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from functools import partial

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.delivery import SmtpSession, deliver, smtp_session
from svc_jupyter.service.notifications.layout import Notice
from svc_jupyter.service.notifications.outbox import QueuedMessage
from svc_jupyter.service.notifications.rendering import notice_of
from svc_jupyter.service.notifications.senders import Sender

_ANSWERS_PER_ATTEMPT = 10
"""Limit of server answers per attempt, each as slow as the settings allow."""


class MailSender(Sender):
    """Sends the outbox's e-mails."""

    def __init__(self, settings: Settings, database: Database, bus: Bus, clock: Callable[[], float]) -> None:
        attempt_seconds = settings.smtp_timeout_seconds * _ANSWERS_PER_ATTEMPT
        super().__init__(ChannelType.EMAIL, database, bus, clock, attempt_seconds=attempt_seconds)
        self._settings = settings

    async def _round(self) -> None:
        """Send what is due now.

        What becomes due meanwhile waits for the next round, so that a round with the server down ends, and the next one
        tries it again.
        """
        due_by = self._clock()
        async with smtp_session(self._settings) as session:
            while not self._stopping and (queued := await self._claim(due_by=due_by)) is not None:
                await self._send(queued, self._mail(queued, session))

    async def _next_time(self) -> float | None:
        return await self._database.read(partial(outbox.next_time, medium=self._medium))

    async def _mail(self, queued: QueuedMessage, session: SmtpSession) -> None:
        message = compose(
            notice_of(queued.content, public_url=self._settings.public_url),
            sender=self._settings.smtp_sender,
            recipient=queued.recipient,
            delivery_id=queued.delivery_id,
            created_at=queued.created_at,
        )
        await deliver(session, message, queued.recipient, within=self._attempt_seconds)


def compose(notice: Notice, *, sender: str, recipient: str, delivery_id: str, created_at: float) -> EmailMessage:
    """Return the e-mail, text and HTML, for a notice; the same arguments give the same Message-ID.

    `sender` is an address, optionally with a name before it. `created_at` is in Unix seconds. Raises `ValueError` when
    an address holds a line break.
    """
    message = EmailMessage()
    message["From"] = sender
    message["To"] = recipient
    message["Subject"] = notice.subject
    message["Date"] = format_datetime(datetime.fromtimestamp(int(created_at), UTC))
    message["Message-ID"] = message_id(sender=sender, delivery_id=delivery_id)
    # Prevents automatic replies such as "out of office" (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(notice.text)
    message.add_alternative(notice.html, subtype="html")
    return message


def message_id(*, sender: str, delivery_id: str) -> str:
    """Return the Message-ID of a message of this service; mail programs never show an id twice."""
    domain = parseaddr(sender)[1].rpartition("@")[2] or "localhost"
    return f"<svc-jupyter.{delivery_id}@{domain}>"
