"""A real mail server (aiosmtpd) in the test's own loop."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult

USER, PASSWORD = "svc", "correct-horse"
HOST = "127.0.0.1"


@dataclass
class Received:
    """A message as the server took it."""

    sender: str
    recipients: list[str]
    message: EmailMessage


@dataclass
class MailServer:
    """A mail server: what it took, and how it answers. It is aiosmtpd's handler, too."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    answers: dict[str, list[str]] = field(default_factory=dict)
    """Answers to give next, by SMTP verb; without one all is well."""
    silent_at: str | None = None
    """The SMTP verb at which it falls silent."""
    holds_at: str | None = None
    """The SMTP verb at which it waits for `go_on`."""
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    is_silent: bool = False
    logins: list[str] = field(default_factory=list)
    """Who logged in, or tried to with a wrong password."""
    connections: list[SMTP] = field(default_factory=list)
    _server: asyncio.Server | None = None

    async def start(self, *, tls: str = "none", context: ssl.SSLContext | None = None, login: bool = False) -> None:
        """Listen, on the port of the last time if there was one."""
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {}
        if tls == "starttls":
            options = {"tls_context": context, "require_starttls": True}
        if login:
            # Under TLS from the start the library does not see that it is there.
            options |= {"authenticator": self._check_login, "auth_required": tls == "starttls"}
            options |= {"auth_require_tls": tls == "starttls"}

        def connection() -> SMTP:
            protocol = SMTP(self, loop=loop, hostname="mail.test", enable_SMTPUTF8=True, **options)
            self.connections.append(protocol)
            return protocol

        self._server = await loop.create_server(connection, HOST, self.port, ssl=context if tls == "tls" else None)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop to listen and break off every connection."""
        if self._server is not None:
            self._server.close()
            await self.break_off()
            await self._server.wait_closed()
            self._server = None

    async def break_off(self) -> None:
        """End every connection without a word."""
        tasks = [protocol._handler_coroutine for protocol in self.connections if protocol._handler_coroutine]
        for protocol in self.connections:
            if protocol.transport is not None and not protocol.transport.is_closing():
                protocol.transport.abort()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def handle_MAIL(self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: N802
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return await self._answer("MAIL")

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: N802
        answer = await self._answer("RCPT")
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        answer = await self._answer("DATA")
        if answer.startswith("250"):
            message = message_from_bytes(envelope.content, policy=policy.default)
            assert isinstance(message, EmailMessage)
            self.received.append(Received(envelope.mail_from, envelope.rcpt_tos, message))
        return answer

    async def handle_QUIT(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        return await self._answer("QUIT", "221 Bye")

    async def _answer(self, verb: str, usual: str = "250 OK") -> str:
        if verb == self.silent_at:
            self.is_silent = True
            await asyncio.Event().wait()
        if verb == self.holds_at:
            self.is_silent = True
            await self.go_on.wait()
        planned = self.answers.get(verb)
        return planned.pop(0) if planned else usual

    def _check_login(self, server: SMTP, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        self.logins.append(data.login.decode())
        known = data.login == USER.encode() and data.password == PASSWORD.encode()
        return AuthResult(success=known, handled=False)
