"""A replica's lease: it shows other replicas that this one lives, and allows takeovers from dead ones."""

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
from svc_jupyter.service.commands.rows import CommandRow
from svc_jupyter.service.database.database import Database, database_clock
from svc_jupyter.service.processes.identity import Identity

_RESTART_SECONDS: Final = 60.0
"""How long a stopped replica keeps its claims: long enough for an upgrade."""


class Lease:
    """The process as a replica. Leases use the database's clock, independent of the hosts' clocks."""

    def __init__(
        self, database: Database, seconds: float, now: Callable[[sa.Connection], float] = database_clock
    ) -> None:
        self.seconds = seconds
        self._now = now
        self.replica = _this_process()
        self._database = database
        self._renewed_at = self._judge_from = 0.0

    async def register(self) -> None:
        """Register this replica."""
        self._renewed_at = await self._database.write(self._register)
        self._judge_from = self._renewed_at + self.seconds

    async def renew(self) -> bool:
        """Prolong the lease; return False when another replica has taken over."""
        now, renewed = await self._database.write(partial(self._renew, seconds=self.seconds))
        if not 0 <= now - self._renewed_at <= self.seconds:
            # The database was away, this machine slept, or the clock was set: other leases prove nothing until their
            # replicas have had time to renew them.
            self._judge_from = now + self.seconds
        self._renewed_at = now
        return renewed

    async def begin_anew(self) -> None:
        """Become a new replica after another one has taken over."""
        self.replica = _this_process()
        await self.register()

    async def leave(self) -> None:
        """Keep the claims for the time of a restart; a service on this host may take them at once."""
        await self._database.write(partial(self._renew, seconds=_RESTART_SECONDS))

    async def take_over(self, on_lost: Callable[[sa.Connection, CommandRow], None]) -> Sequence[CommandRow]:
        """Take the running commands of replicas that are gone; return the rows of those that continue here.

        `on_lost` is called in the same transaction for each command of another host, which is lost.
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
        self, on_lost: Callable[[sa.Connection, CommandRow], None], connection: sa.Connection
    ) -> Sequence[CommandRow]:
        now = self._now(connection)
        gone = [
            other
            for other, lease_until in queue.other_replicas(connection, self.replica)
            # On SQLite the data folder's lock excludes a second replica.
            if self._database.on_sqlite or _is_dead(other, self.replica.host) or self._is_over(lease_until, now)
        ]
        inheritance = queue.inherit(connection, self.replica, gone=gone, now=time.time())
        for row in inheritance.lost:
            on_lost(connection, row)
        return inheritance.adopted

    def _is_over(self, lease_until: float, now: float) -> bool:
        """Whether a lease has ended, or ends later than any lease can: then the clock was set back."""
        longest = max(self.seconds, _RESTART_SECONDS)
        return now > self._judge_from and not now <= lease_until <= now + 2 * longest


def _is_dead(other: queue.Replica, host: str) -> bool:
    """Return whether a replica is known to be dead: its process was on this host and has ended."""
    if other.host != host:
        return False
    process = other.process
    return not process.is_alive if process.is_complete else not psutil.pid_exists(process.pid)


def _this_process() -> queue.Replica:
    return queue.Replica(uuid.uuid4().hex, socket.gethostname(), Identity.of_this_process())
