"""A replica's lease: how others know that it lives, and what it takes over from those that do not."""

from __future__ import annotations

import os
import socket
import time
import uuid
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

    async def register(self) -> None:
        """Make this replica known to the others."""
        await self._database.write(partial(queue.register, replica=self.replica, lease_until=self._end()))

    async def renew(self) -> bool:
        """Prolong the lease; return False when another replica has already taken over."""
        return await self._database.write(partial(queue.renew, replica=self.replica, lease_until=self._end()))

    async def begin_anew(self) -> None:
        """Become a new replica, after another one took over."""
        self.replica = _this_process()
        await self.register()

    async def leave(self) -> None:
        """Keep the claims for as long as a restart takes; a service on this host may take them at once."""
        until = time.time() + _RESTART_SECONDS
        await self._database.write(partial(queue.renew, replica=self.replica, lease_until=until))

    async def take_over(self) -> queue.Inheritance:
        """Take the running commands of replicas that are gone."""
        return await self._database.write(self._inherit)

    def _end(self) -> float:
        return time.time() + self.seconds

    def _inherit(self, connection: sa.Connection) -> queue.Inheritance:
        now = time.time()
        gone = [
            other
            for other, lease_until in queue.other_replicas(connection, self.replica)
            # On SQLite the data folder's lock says that there is no other.
            if self._database.on_sqlite or lease_until < now or self._is_dead_here(other)
        ]
        return queue.inherit(connection, self.replica, gone=gone, now=now)

    def _is_dead_here(self, other: queue.Replica) -> bool:
        if other.host != self.replica.host:
            return False
        try:
            return abs(psutil.Process(other.pid).create_time() - other.process_started) > 1
        except psutil.NoSuchProcess:
            return True


def _this_process() -> queue.Replica:
    started = psutil.Process().create_time()
    return queue.Replica(uuid.uuid4().hex, socket.gethostname(), os.getpid(), started)
