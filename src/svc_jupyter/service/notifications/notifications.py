"""E-mails about ended commands: noted in the transaction that ends a command, sent by whichever replica is free.

A message is sent at least once, and more than once only when the service dies (or loses its mail server) between the
server's taking it on and its being marked as sent: then again with the same Message-ID, by which mail systems and
readers know it for the same. Sending at most once would lose messages in that gap, which nobody would notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import sqlalchemy as sa
import structlog

from svc_jupyter.service.bus import Bus
from svc_jupyter.service.commands.logs import append_line
from svc_jupyter.service.commands.runner import command_root
from svc_jupyter.service.database import Database
from svc_jupyter.service.errors import Unavailable
from svc_jupyter.service.notifications import outbox
from svc_jupyter.service.notifications.delivery import NotDelivered, SmtpSession, deliver, smtp_session
from svc_jupyter.service.notifications.mail import compose
from svc_jupyter.service.notifications.outbox import Letter
from svc_jupyter.service.notifications.rendering import command_ended
from svc_jupyter.service.settings import Settings

NOTIFY = "notify"
"""Topic on which a message in the outbox is announced."""
NO_SERVER = "no e-mail is sent about this command: the service has no mail server (setting SVC_SMTP_HOST)"
_ANSWERS_PER_ATTEMPT = 10
"""How many answers of the server, each as slow as the settings allow, an attempt may take."""
_CLAIM_MARGIN_SECONDS = 60.0
_LOOK_SECONDS = 300.0
"""How often one looks without being told: an announcement may be lost, and a sleeping machine's clocks differ."""
_SHORTEST_PAUSE_SECONDS = 0.1
_RETRY_SECONDS = 1.0
_STOP_SECONDS = 5.0
"""How long a stop waits for the message that is being sent."""
log = structlog.get_logger(__name__)


class Notifications:
    """Notes and sends what users asked to be told (SPEC: parameter `can_notify`)."""

    def __init__(
        self, settings: Settings, database: Database, bus: Bus, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._database = database
        self._bus = bus
        self._clock = clock
        self._has_server = bool(settings.smtp_host)
        self._said_no_server = False
        self._attempt_seconds = settings.smtp_timeout_seconds * _ANSWERS_PER_ATTEMPT
        self._wake = asyncio.Event()
        self._stopping = False
        self._sender: asyncio.Task[None] | None = None
        bus.subscribe(NOTIFY, lambda _payload: self._wake.set())

    def on_command_end(self, connection: sa.Connection, row: Mapping[str, Any]) -> None:
        """Note, in the transaction that ends the command of `row`, that its user is to be told if they want to be.

        Without a mail server nothing is noted, and the command's log says so: what is days old when a server is set
        would only confuse.
        """
        if not row["can_notify"]:
            return
        if not self._has_server:
            self._database.after_commit(connection, partial(self._say_no_server, row["id"]))
        elif outbox.put(connection, command_id=row["id"], user_id=row["user_id"], now=self._clock()):
            self._bus.publish(connection, NOTIFY)

    async def start(self) -> None:
        """Begin to send, first what an earlier service left."""
        if self._has_server:
            self._sender = asyncio.create_task(self._send_forever(), name="notifications")

    async def stop(self) -> None:
        """Send no further message; one that is being sent has a few seconds, else the next service tries it again."""
        self._stopping = True
        self._wake.set()
        if self._sender is not None:
            await asyncio.wait({self._sender}, timeout=_STOP_SECONDS)
            self._sender.cancel()
            await asyncio.gather(self._sender, return_exceptions=True)

    async def _send_forever(self) -> None:
        while not self._stopping:
            self._wake.clear()
            try:
                await self._send_due()
                pause = await self._pause()
            except Unavailable:
                log.warning("notifications_wait_for_database")
                pause = _RETRY_SECONDS
            except Exception:
                log.exception("notifications_interrupted")
                pause = _LOOK_SECONDS
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    async def _pause(self) -> float | None:
        """Return the seconds until a message is due; None when only an announcement can change that there is none."""
        next_time = await self._database.read(outbox.next_time)
        if next_time is None:
            return None if self._database.on_sqlite else _LOOK_SECONDS
        return min(max(next_time - self._clock(), _SHORTEST_PAUSE_SECONDS), _LOOK_SECONDS)

    async def _send_due(self) -> None:
        """Send what is due now, one message after the other over one connection.

        What becomes due meanwhile is for the next round, so that a round in which the server is down comes to its end
        and the next one asks it again.
        """
        claim = partial(self._claim, self._clock())
        async with smtp_session(self._settings) as session:
            while not self._stopping and (letter := await self._database.write(claim)) is not None:
                await self._send(letter, session)

    def _claim(self, due_by: float, connection: sa.Connection) -> Letter | None:
        until = self._clock() + self._attempt_seconds + _CLAIM_MARGIN_SECONDS
        return outbox.claim(connection, due_by=due_by, until=until)

    async def _send(self, letter: Letter, session: SmtpSession) -> None:
        try:
            message = compose(
                command_ended(letter.command, public_url=self._settings.public_url),
                sender=self._settings.smtp_sender,
                recipient=letter.recipient,
                outbox_id=letter.id,
                created_at=letter.created_at,
            )
            await deliver(session, message, letter.recipient, within=self._attempt_seconds)
        except NotDelivered as failure:
            await self._mark_failed(letter, str(failure), may_retry=failure.may_retry)
        except Exception:
            log.exception("notification_broken", command_id=letter.command_id)
            await self._mark_failed(letter, "an error of the service itself; its log has the details")
        else:
            await self._mark(partial(outbox.mark_sent, letter=letter, now=self._clock()))
            log.info("notification_sent", command_id=letter.command_id, attempt=letter.attempt)

    async def _mark_failed(self, letter: Letter, reason: str, *, may_retry: bool = True) -> None:
        now = self._clock()
        again_at = outbox.next_attempt_at(created_at=letter.created_at, attempt=letter.attempt, now=now)
        if not may_retry:
            again_at = None
        event = "notification_given_up" if again_at is None else "notification_failed"
        log.warning(event, command_id=letter.command_id, attempt=letter.attempt, reason=reason)
        await self._mark(partial(outbox.mark_failed, letter=letter, reason=reason, again_at=again_at))

    async def _mark(self, work: Callable[[sa.Connection], None]) -> None:
        """Write what became of a message, however long the database is away: it must not be sent twice."""
        while True:
            try:
                await self._database.write(work)
            except Unavailable:
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return

    def _say_no_server(self, command_id: int) -> None:
        """Tell the operator once, and the user in the command's log."""
        if not self._said_no_server:
            self._said_no_server = True
            log.warning("notifications_off", reason=NO_SERVER, command_id=command_id)
        with contextlib.suppress(OSError):  # cancelled before it began it has no log; a full disk is told elsewhere
            append_line(command_root(self._settings.commands_dir, command_id) / "log", NO_SERVER)
