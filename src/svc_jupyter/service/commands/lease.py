"""A replica's lease: how others know that it lives, and what it takes over from those that do not."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import psutil
import sqlalchemy as sa

from svc_jupyter.service.commands import queue
from svc_jupyter.service.database import Database
from svc_jupyter.service.process_identity import Identity

_RESTART_SECONDS: Final = 60.0
"""How long a replica that stopped keeps its claims: an upgrade's worth."""
_NOW: Final = sa.select(sa.extract("epoch", sa.func.clock_timestamp()))


def database_clock(connection: sa.Connection) -> float:
    """Return the time by the clock that all replicas share; on SQLite there is one replica."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(_NOW).scalar_one())


class Lease:
    """The process as a replica. Leases are given and compared by the database's clock, whatever those of hosts show."""

    def __init__(
        self, database: Database, seconds: float, now: Callable[[sa.Connection], float] = database_clock
    ) -> None:
        self.seconds = seconds
        self._now = now
        self.replica = _this_process()
        self._database = database
        self._renewed_at = self._judge_from = 0.0

    async def register(self) -> None:
        """Make this replica known to the others."""
        self._renewed_at = await self._database.write(self._register)
        self._judge_from = self._renewed_at + self.seconds

    async def renew(self) -> bool:
        """Prolong the lease; return False when another replica has already taken over."""
        now, renewed = await self._database.write(partial(self._renew, seconds=self.seconds))
        if not 0 <= now - self._renewed_at <= self.seconds:
            # The database was away, this machine asleep, or the clock was set: the leases of others tell nothing until
            # they had time to renew them, too.
            self._judge_from = now + self.seconds
        self._renewed_at = now
        return renewed

    async def begin_anew(self) -> None:
        """Become a new replica, after another one took over."""
        self.replica = _this_process()
        await self.register()

    async def leave(self) -> None:
        """Keep the claims for as long as a restart takes; a service on this host may take them at once."""
        await self._database.write(partial(self._renew, seconds=_RESTART_SECONDS))

    async def take_over(self, on_lost: Callable[[sa.Connection, queue.Row], None]) -> Sequence[queue.Row]:
        """Take the running commands of replicas that are gone; return the rows of those to run on.

        `on_lost` is called in the same transaction for each that ended as lost, since it ran on another host.
        """
        return await self._database.write(partial(self._inherit, on_lost))

    def _register(self, connection: sa.Connection) -> float:
        now = self._now(connection)
        queue.register(connection, self.replica, lease_until=now + self.seconds)
        return now

    def _renew(self, connection: sa.Connection, seconds: float) -> tuple[float, bool]:
        now = self._now(connection)
        return now, queue.renew(connection, self.replica, lease_until=now + seconds)

    def _inherit(
        self, on_lost: Callable[[sa.Connection, queue.Row], None], connection: sa.Connection
    ) -> Sequence[queue.Row]:
        now = self._now(connection)
        gone = [
            other
            for other, lease_until in queue.other_replicas(connection, self.replica)
            # On SQLite the data folder's lock says that there is no other.
            if self._database.on_sqlite or _is_dead(other, self.replica.host) or self._is_over(lease_until, now)
        ]
        inheritance = queue.inherit(connection, self.replica, gone=gone, now=time.time())
        for row in inheritance.lost:
            on_lost(connection, row)
        return inheritance.adopted

    def _is_over(self, lease_until: float, now: float) -> bool:
        """Whether a lease has ended, or lies further ahead than any is given: that clock was set back."""
        longest = max(self.seconds, _RESTART_SECONDS)
        return now > self._judge_from and not now <= lease_until <= now + 2 * longest


def _is_dead(other: queue.Replica, host: str) -> bool:
    """Return whether a replica is known to be gone: as a process of this host that is no more."""
    if other.host != host:
        return False
    process = other.process
    return not process.is_alive if process.is_told else not psutil.pid_exists(process.pid)


def _this_process() -> queue.Replica:
    return queue.Replica(uuid.uuid4().hex, socket.gethostname(), Identity.of_this_process())
