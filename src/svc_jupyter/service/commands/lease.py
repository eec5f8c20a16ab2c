"""A replica's lease: how others know that it lives, and what it takes over from those that do not."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial

import psutil
import sqlalchemy as sa

from svc_jupyter.service.commands import queue
from svc_jupyter.service.database import Database

_RESTART_SECONDS = 60.0
"""How long a replica that stopped keeps its claims: an upgrade's worth."""


class Lease:
    """The process as a replica. Leases are compared by the hosts' clocks, which must agree to a few seconds."""

    def __init__(self, database: Database, seconds: float) -> None:
        self.seconds = seconds
        self.replica = _this_process()
        self._database = database
        self._renewed_at = self._judge_from = 0.0

    async def register(self) -> None:
        """Make this replica known to the others."""
        now = time.time()
        await self._database.write(partial(queue.register, replica=self.replica, lease_until=now + self.seconds))
        self._renewed_at, self._judge_from = now, now + self.seconds

    async def renew(self) -> bool:
        """Prolong the lease; return False when another replica has already taken over."""
        now = time.time()
        if now - self._renewed_at > self.seconds:
            # The database was away, or this machine asleep: others could not renew either, and get time to do so.
            self._judge_from = now + self.seconds
        renewed = await self._database.write(partial(queue.renew, replica=self.replica, lease_until=now + self.seconds))
        self._renewed_at = now
        return renewed

    async def begin_anew(self) -> None:
        """Become a new replica, after another one took over."""
        self.replica = _this_process()
        await self.register()

    async def leave(self) -> None:
        """Keep the claims for as long as a restart takes; a service on this host may take them at once."""
        until = time.time() + _RESTART_SECONDS
        await self._database.write(partial(queue.renew, replica=self.replica, lease_until=until))

    async def take_over(self, on_lost: Callable[[sa.Connection, queue.Row], None]) -> Sequence[queue.Row]:
        """Take the running commands of replicas that are gone; return the rows of those to run on.

        `on_lost` is called in the same transaction for each that ended as lost, since it ran on another host.
        """
        return await self._database.write(partial(self._inherit, on_lost))

    def _inherit(
        self, on_lost: Callable[[sa.Connection, queue.Row], None], connection: sa.Connection
    ) -> Sequence[queue.Row]:
        now = time.time()
        gone = [
            other
            for other, lease_until in queue.other_replicas(connection, self.replica)
            # On SQLite the data folder's lock says that there is no other.
            if self._database.on_sqlite or is_dead_on(self.replica.host, other) or lease_until < now > self._judge_from
        ]
        inheritance = queue.inherit(connection, self.replica, gone=gone, now=now)
        for row in inheritance.lost:
            on_lost(connection, row)
        return inheritance.adopted


def is_dead_on(host: str, other: queue.Replica) -> bool:
    """Return whether a replica ran on this host, named by the argument, and its process is gone."""
    if other.host != host:
        return False
    try:
        return abs(psutil.Process(other.pid).create_time() - other.process_started) > 1
    except psutil.NoSuchProcess:
        return True


def _this_process() -> queue.Replica:
    started = psutil.Process().create_time()
    return queue.Replica(uuid.uuid4().hex, socket.gethostname(), os.getpid(), started)
