"""Sends e-mails through the operator's mail server, by SMTP (settings `smtp_…`)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import smtplib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from email.utils import parseaddr

from aiosmtplib import SMTP, SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException

from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.plain_text import one_line

_REASON_LIMIT = 500
_PERMANENT = range(500, 600)
"""Permanent failures of a mail server (RFC 5321, 4.2.1)."""
_FAILURES = (SMTPException, OSError, ValueError)
"""Errors of a connection to a server; an impossible host name is a ValueError."""


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
