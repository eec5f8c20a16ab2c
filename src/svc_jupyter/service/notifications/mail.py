"""Sends e-mails one after the other over one connection to the operator's mail server, by SMTP (settings `smtp_…`)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import smtplib
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from functools import partial

from aiosmtplib import SMTP, SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException

from svc_jupyter.api.notification_channels import ChannelType
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.due_work import NotDelivered, Sender
from svc_jupyter.service.notifications.layout import Notice
from svc_jupyter.service.notifications.outbox import QueuedMessage
from svc_jupyter.service.notifications.rendering import notice_of
from svc_jupyter.service.notifications.texts import one_line

_ANSWERS_PER_ATTEMPT = 10
"""Limit of server answers per attempt, each as slow as the settings allow."""
_REASON_LIMIT = 500
_PERMANENT = range(500, 600)
"""Permanent failures of a mail server (RFC 5321, 4.2.1)."""
_FAILURES = (SMTPException, OSError, ValueError)
"""Errors of a connection to a server; an impossible host name is a ValueError."""


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


class SmtpSession:
    """Sends messages over one connection, which the first of them opens.

    After a failed connection or login the session does not try again.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = f"{settings.smtp_host}:{settings.smtp_port}"
        self._smtp = SMTP(
            hostname=settings.smtp_host,
            port=settings.smtp_port,
            timeout=settings.smtp_timeout_seconds,
            use_tls=settings.smtp_security == "tls",
            start_tls=False,
        )
        self._unusable: str | None = None

    async def send(self, message: EmailMessage, recipient: str) -> None:
        """Send a message; return once the server has accepted it. Raises `NotDelivered`."""
        if parseaddr(recipient) != ("", recipient) or "@" not in recipient:
            raise NotDelivered(f"{one_line(recipient, 254)!r} is not an e-mail address", may_retry=False)
        await self._connect()
        sender = parseaddr(self._settings.smtp_sender)[1]
        try:
            await self._smtp.send_message(message, sender=sender, recipients=[recipient])
        except SMTPRecipientsRefused as error:
            raise self._refusal("refused the recipient", error.recipients[0]) from error
        except SMTPDataError as error:
            raise self._refusal("refused the message", error) from error
        except _FAILURES as error:
            self._smtp.close()
            raise NotDelivered(f"{self._server} did not take the message: {_explain(error)}") from error

    async def quit(self) -> None:
        """Say QUIT to the server. What it accepted stays accepted, whatever it answers now."""
        if self._smtp.is_connected:
            with contextlib.suppress(*_FAILURES):
                await self._smtp.quit()

    def abort(self, reason: str) -> None:
        """Close the connection; nothing is sent after it."""
        self._unusable = reason
        self._smtp.close()

    async def _connect(self) -> None:
        if self._unusable is not None:
            raise NotDelivered(self._unusable)
        if self._smtp.is_connected:
            return
        settings, password = self._settings, self._settings.smtp_password
        failed = f"the mail server {self._server} cannot be reached"
        try:
            # An address literal if the machine's name has no domain, which strict servers require (RFC 5321, 4.1.3).
            self._smtp.local_hostname = await asyncio.to_thread(lambda: smtplib.SMTP().local_hostname)
            await self._smtp.connect()
            if settings.smtp_security == "starttls":
                failed = f"the mail server {self._server} offers no safe way in"
                await self._smtp.starttls()
            if settings.smtp_user is not None:
                failed = f"the mail server {self._server} refused {settings.smtp_user!r} to log in"
                await self._smtp.login(settings.smtp_user, "" if password is None else password.get_secret_value())
        except _FAILURES as error:
            self.abort(f"{failed}: {_explain(error)}")
            raise NotDelivered(f"{failed}: {_explain(error)}") from error

    def _refusal(self, what: str, error: SMTPResponseException) -> NotDelivered:
        return NotDelivered(f"{self._server} {what}: {_explain(error)}", may_retry=error.code not in _PERMANENT)


async def deliver(session: SmtpSession, message: EmailMessage, recipient: str, *, within: float) -> None:
    """Send a message; return once the server has accepted it.

    Raises `NotDelivered`, also when it takes longer than `within` seconds.
    """
    try:
        async with asyncio.timeout(within):
            await session.send(message, recipient)
    except TimeoutError:
        reason = f"the mail server did not take the message within {within:g} s"
        session.abort(reason)
        raise NotDelivered(reason) from None


@asynccontextmanager
async def smtp_session(settings: Settings) -> AsyncIterator[SmtpSession]:
    """Yield a session for `deliver`; at the end it sends QUIT, unless the task is cancelled."""
    session = SmtpSession(settings)
    try:
        yield session
        await session.quit()
    finally:
        session.abort("the session is over")


def _explain(error: Exception) -> str:
    if isinstance(error, SMTPResponseException):
        return one_line(f"{error.code} {error.message}", _REASON_LIMIT)
    if isinstance(error, TimeoutError):
        return "timed out"
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {cause.verify_message}"
    if isinstance(cause, ConnectionError) and cause.errno:
        return os.strerror(cause.errno)  # asyncio's own text names the call and the address
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return one_line(text, _REASON_LIMIT) or type(cause).__name__
