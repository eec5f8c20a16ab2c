"""Writes how commands ended, with all consequences in the same transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import sqlalchemy as sa
import structlog

from svc_jupyter.service.commands import queue
from svc_jupyter.service.commands.at_end import AtEnd, tell_apart, tell_owed
from svc_jupyter.service.commands.ends import ENDED
from svc_jupyter.service.commands.job import Job, Values
from svc_jupyter.service.commands.lease import Lease
from svc_jupyter.service.database.bus import Bus
from svc_jupyter.service.database.database import Database
from svc_jupyter.service.ground.background import RETRY_SECONDS
from svc_jupyter.service.ground.errors import Unavailable

Tell = Callable[[sa.Connection, queue.Row], None]
log = structlog.get_logger(__name__)


class Endings:
    """Writes the ends of a replica's commands."""

    def __init__(self, database: Database, bus: Bus, lease: Lease, at_end: Sequence[AtEnd]) -> None:
        self._database = database
        self._bus = bus
        self._lease = lease
        self._at_end = at_end

    async def write(self, job: Job, values: Values) -> None:
        """Write the end of a command. Retries as long as the database is away, so that no end is lost.

        After a failure, each hook runs in a savepoint of its own, which costs an extra statement per hook.
        """
        tell, is_bare = self._tell_together, False
        while True:
            try:
                await self._database.write(partial(self._write, job, values, tell), durable=False)
            except Unavailable:
                log.warning("end_not_written_yet", command_id=job.id)
                tell = self.tell
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                if is_bare:
                    raise
                if tell == self.tell:
                    log.exception("end_not_written_whole", command_id=job.id)
                    values, is_bare = _bare_end(values), True
                tell = self.tell
            else:
                log.info("command_ended", command_id=job.id, status=str(values["status"]))
                return

    def tell(self, connection: sa.Connection, row: queue.Row) -> None:
        """Call all hooks for the end of a command, each in a savepoint of its own, in the transaction that ends it."""
        tell_apart(connection, self._at_end, row)
        self._bus.publish(connection, ENDED, str(row["id"]))

    async def tell_owed(self) -> None:
        """Repeat the hook calls that failed. Raises `Unavailable`."""
        await tell_owed(self._database, self._at_end)

    def _write(self, job: Job, values: Values, tell: Tell, connection: sa.Connection) -> None:
        if queue.finish(connection, self._lease.replica, job.id, values):
            row = {**job.row, **values}
            self._database.after_commit(connection, partial(job.has_ended_as, row))
            tell(connection, row)

    def _tell_together(self, connection: sa.Connection, row: queue.Row) -> None:
        for hook in self._at_end:
            hook(connection, row)
        self._bus.publish(connection, ENDED, str(row["id"]))


def _bare_end(values: Values) -> Values:
    """Return the end of a command without the values that may have made it unwritable."""
    told = "the command ended, but not everything about its end could be stored; the service's log says why"
    return {"status": values["status"], "end_time": values["end_time"], "progress": values["progress"], "message": told}
