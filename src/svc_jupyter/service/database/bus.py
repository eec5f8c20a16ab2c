"""Messages between the parts of a service and between replicas: in-process calls, and LISTEN/NOTIFY on PostgreSQL.

A message may be lost with a broken connection: every subscriber also reads the database regularly.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable

import sqlalchemy as sa
import structlog

from svc_jupyter.service.database.database import Database

Subscriber = Callable[[str], None]
_CHANNEL = "svc_jupyter"
_RECONNECT_SECONDS = 1.0
log = structlog.get_logger(__name__)


class Bus:
    """Topics with a short payload. Subscribers are called on the event loop and must not block."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._subscribers: dict[str, list[Subscriber]] = defaultdict(list)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener: asyncio.Task[None] | None = None

    def subscribe(self, topic: str, subscriber: Subscriber) -> None:
        """Call `subscriber(payload)` for each message on `topic`."""
        self._subscribers[topic].append(subscriber)

    def publish(self, connection: sa.Connection, topic: str, payload: str = "") -> None:
        """Send a message once `connection`'s transaction is committed.

        Subscribers in this process get it at once; through PostgreSQL all replicas get it, including this one again.
        """
        self._database.after_commit(connection, lambda: self.announce(topic, payload))
        if not self._database.on_sqlite:
            connection.execute(sa.select(sa.func.pg_notify(_CHANNEL, f"{topic} {payload}")))

    def announce(self, topic: str, payload: str = "") -> None:
        """Call this process's subscribers, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, topic, payload)

    async def start(self) -> None:
        """Begin to deliver; on PostgreSQL also messages of other replicas."""
        self._loop = asyncio.get_running_loop()
        if not self._database.on_sqlite:
            self._listener = asyncio.create_task(self._listen_forever(), name="bus")

    async def stop(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener

    def _deliver(self, topic: str, payload: str) -> None:
        for subscriber in self._subscribers[topic]:
            subscriber(payload)

    async def _listen_forever(self) -> None:
        import psycopg

        url = self._database.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=5) as connection:
                    await connection.execute(f"LISTEN {_CHANNEL}")
                    for topic in list(self._subscribers):
                        self._deliver(topic, "")  # messages may have been missed without a connection
                    async for message in connection.notifies():
                        topic, _, payload = message.payload.partition(" ")
                        self._deliver(topic, payload)
            except (psycopg.Error, OSError) as error:
                log.warning("bus_reconnecting", reason=type(error).__name__)
            await asyncio.sleep(_RECONNECT_SECONDS)
