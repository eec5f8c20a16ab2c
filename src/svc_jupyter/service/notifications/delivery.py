"""Handing e-mails to the operator's mail server, by SMTP (settings `smtp_…`)."""

from __future__ import annotations

import asyncio
import contextlib
import smtplib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.message import EmailMessage
from email.utils import parseaddr
from functools import partial

from svc_jupyter.service.notifications.failures import NotDelivered
from svc_jupyter.service.notifications.plain_text import one_line
from svc_jupyter.service.settings import Settings

_REASON_LIMIT = 500
_STOPPING = "the service stops"
_PERMANENT = range(500, 600)
"""Answers of a mail server that stay the same, however often it is asked (RFC 5321, 4.2.1)."""


class SmtpSession:
    """Sends messages over one connection, opened by the first of them.

    A server that cannot be reached, or refuses the login, is not asked again in the same session. Its methods block;
    `abort` may be called from another thread.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._server = f"{settings.smtp_host}:{settings.smtp_port}"
        self._smtp: smtplib.SMTP | None = None
        self._unusable: str | None = None

    def send(self, message: EmailMessage, recipient: str) -> None:
        """Hand over a message; return once the server has taken it on. Raises `NotDelivered`."""
        if parseaddr(recipient) != ("", recipient) or "@" not in recipient:
            raise NotDelivered(f"{one_line(recipient, 254)!r} is not an e-mail address", may_retry=False)
        smtp = self._connected()
        try:
            smtp.send_message(message, from_addr=parseaddr(self._settings.smtp_sender)[1], to_addrs=[recipient])
        except smtplib.SMTPRecipientsRefused as error:
            code, text = error.recipients[recipient]
            raise self._refusal("refused the recipient", code, text) from error
        except smtplib.SMTPDataError as error:
            raise self._refusal("refused the message", error.smtp_code, error.smtp_error) from error
        except (OSError, ValueError) as error:
            smtp.close()
            raise NotDelivered(f"{self._server} did not take the message: {_explain(error)}") from error

    def close(self) -> None:
        """Take leave of the server. What it took stays taken, whatever it answers now."""
        if self._smtp is None:
            return
        if self._unusable is None:
            with contextlib.suppress(OSError):
                self._smtp.quit()
        self._smtp.close()

    def abort(self, reason: str) -> None:
        """Break the connection off, so that a thread that waits for the server goes on; nothing is sent after it."""
        self._unusable = reason
        if self._smtp is not None and (connection := self._smtp.sock) is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _connected(self) -> smtplib.SMTP:
        self._check_usable()
        if self._smtp is None or self._smtp.sock is None:
            try:
                self._smtp = self._connect()
                self._check_usable()  # it may have been aborted meanwhile
                self._encrypt(self._smtp)
                self._log_in(self._smtp)
            except NotDelivered as error:
                if self._smtp is not None:
                    self._smtp.close()
                self._unusable = str(error)
                raise
        return self._smtp

    def _check_usable(self) -> None:
        if self._unusable is not None:
            raise NotDelivered(self._unusable)

    def _connect(self) -> smtplib.SMTP:
        settings = self._settings
        assert settings.smtp_host is not None
        timeout = settings.smtp_timeout_seconds
        try:
            if settings.smtp_security == "tls":
                context = ssl.create_default_context()
                return smtplib.SMTP_SSL(settings.smtp_host, settings.smtp_port, timeout=timeout, context=context)
            return smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=timeout)
        except (OSError, ValueError) as error:
            raise NotDelivered(f"the mail server {self._server} cannot be reached: {_explain(error)}") from error

    def _encrypt(self, smtp: smtplib.SMTP) -> None:
        """Go on encrypted if the settings say so, and never without where they do."""
        try:
            if self._settings.smtp_security == "starttls":
                smtp.starttls(context=ssl.create_default_context())
            smtp.ehlo_or_helo_if_needed()
        except (OSError, ValueError) as error:
            raise NotDelivered(f"the mail server {self._server} offers no safe way in: {_explain(error)}") from error

    def _log_in(self, smtp: smtplib.SMTP) -> None:
        user, password = self._settings.smtp_user, self._settings.smtp_password
        if user is None:
            return
        try:
            smtp.login(user, "" if password is None else password.get_secret_value())
        except UnicodeError:
            # Without its cause, which holds the password.
            raise NotDelivered("smtp_user and smtp_password may hold ASCII characters only") from None
        except (OSError, ValueError) as error:
            reason = f"the mail server {self._server} refused {user!r} to log in: {_explain(error)}"
            raise NotDelivered(reason) from error

    def _refusal(self, what: str, code: int, text: bytes | str) -> NotDelivered:
        return NotDelivered(f"{self._server} {what}: {_answer(code, text)}", may_retry=code not in _PERMANENT)


async def deliver(session: SmtpSession, message: EmailMessage, recipient: str, *, within: float) -> None:
    """Send in a thread; return once the server has taken the message on.

    Raises `NotDelivered`, also when it takes longer than `within` seconds.
    """
    try:
        async with asyncio.timeout(within):
            await _in_thread(partial(session.send, message, recipient))
    except TimeoutError:
        reason = f"the mail server did not take the message within {within:g} s"
        session.abort(reason)
        raise NotDelivered(reason) from None


@asynccontextmanager
async def smtp_session(settings: Settings) -> AsyncIterator[SmtpSession]:
    """Lend a session for `deliver`; at the end it takes leave of the server, unless the task is cancelled."""
    session = SmtpSession(settings)
    try:
        yield session
    except asyncio.CancelledError:
        session.abort(_STOPPING)
        raise
    finally:
        await _in_thread(session.close)


async def _in_thread(work: Callable[[], None]) -> None:
    """Run blocking work in a thread which, unlike asyncio's own, a process that ends does not wait for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def run() -> None:
        error: Exception | None = None
        try:
            work()
        except Exception as caught:  # noqa: BLE001  handed to the waiting coroutine, whatever it is
            error = caught
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=run, name="notification", daemon=True).start()
    await done


def _explain(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _answer(error.smtp_code, error.smtp_error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return one_line(text, _REASON_LIMIT) or type(error).__name__


def _answer(code: int, text: bytes | str) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return one_line(f"{code} {words}", _REASON_LIMIT)
