"""Which replica is the ticker. Two at once would do no harm (schedules are locked), only the same work twice."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from svc_jupyter.service.database import conflict_insert
from svc_jupyter.service.schedules.tables import service_leases

LEASE_SECONDS = 6.0
_NAME = "ticker"
_NOW = sa.extract("epoch", sa.func.clock_timestamp())
"""PostgreSQL's clock: what the hosts' clocks show does not matter. SQLite has the data folder's lock instead."""


class TickerLease:
    """A replica's claim to be the ticker.

    Renewed every third of its length, and tried for as often: another replica takes over within 4/3 of `seconds` of the
    holder's death.
    """

    def __init__(self, seconds: float = LEASE_SECONDS) -> None:
        self.renew_seconds = seconds / 3
        self._seconds = seconds
        self._id = uuid.uuid4().hex

    def hold(self, connection: sa.Connection) -> bool:
        """Take or prolong the lease; return whether this replica holds it now."""
        until = _NOW + self._seconds
        mine = conflict_insert(connection, service_leases).values(name=_NAME, replica_id=self._id, until=until)
        taken = connection.execute(
            mine.on_conflict_do_update(
                index_elements=[service_leases.c.name],
                set_={"replica_id": self._id, "until": until},
                where=sa.or_(
                    service_leases.c.replica_id == self._id,
                    service_leases.c.until < _NOW,
                    # Further ahead than any lease is given: that clock was set back.
                    service_leases.c.until > _NOW + 2 * self._seconds,
                ),
            ).returning(service_leases.c.name)
        )
        return taken.first() is not None

    def leave(self, connection: sa.Connection) -> None:
        """Give the lease up, so that another replica need not wait for its end."""
        connection.execute(
            sa.delete(service_leases).where(service_leases.c.name == _NAME, service_leases.c.replica_id == self._id)
        )
