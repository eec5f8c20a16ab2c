"""A claim of one replica to a work that only one may do at a time."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from svc_jupyter.service.database.database import conflict_insert
from svc_jupyter.service.schema.schedules import service_leases

_NOW = sa.extract("epoch", sa.func.clock_timestamp())
"""PostgreSQL's clock, independent of the hosts' clocks. SQLite has the data folder's lock instead."""


class ServiceLease:
    """A replica's claim to the work `name`, on PostgreSQL.

    It is renewed every third of its length, and the others try as often: another replica takes over within 4/3 of
    `seconds` after the holder's death.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self.renew_seconds = seconds / 3
        self._name = name
        self._seconds = seconds
        self._id = uuid.uuid4().hex

    def hold(self, connection: sa.Connection) -> bool:
        """Take or prolong the lease; return whether this replica holds it."""
        until = _NOW + self._seconds
        mine = conflict_insert(connection, service_leases).values(name=self._name, replica_id=self._id, until=until)
        taken = connection.execute(
            mine.on_conflict_do_update(
                index_elements=[service_leases.c.name],
                set_={"replica_id": self._id, "until": until},
                where=sa.or_(
                    service_leases.c.replica_id == self._id,
                    service_leases.c.until < _NOW,
                    # Later than any lease can end: that clock was set back.
                    service_leases.c.until > _NOW + 2 * self._seconds,
                ),
            ).returning(service_leases.c.name)
        )
        return taken.first() is not None

    def leave(self, connection: sa.Connection) -> None:
        """Release the lease, so that another replica need not wait for its end."""
        connection.execute(
            sa.delete(service_leases).where(
                service_leases.c.name == self._name, service_leases.c.replica_id == self._id
            )
        )
