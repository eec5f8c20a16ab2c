"""DB taps: stored connections to databases."""
# Made from asynchronous/db_taps.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from svc_jupyter.api.db_taps import DbTap, DbTapList, DbTapTable, Deleted
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.db_taps import DbTapFlows


class DbTaps:
    """DB taps, as `client.db_taps`."""

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = DbTapFlows(performer.link)

    def list(self, *, page: int = 1, per_page: int = 10) -> DbTapList:
        """Return one page of taps, newest first."""
        return self._performer.run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[DbTap]:
        """Yield all taps, newest first."""
        yield from self._performer.run(self._flows.all())

    def get(self, tap_id: int) -> DbTap:
        """Return a tap; raises NotFound for an unknown id."""
        return self._performer.run(self._flows.get(tap_id))

    def find(self, name_or_id: str | int) -> DbTap:
        """Return the tap with a name or id. Raises NotFound with the nearest names, NotUnique with all ids."""
        return self._performer.run(self._flows.find(name_or_id))

    def create(self, name: str, db_type: str, **fields: Any) -> DbTap:
        """Create a tap from `db_host`, `port`, `db_name`, `db_user`, `db_passwd`, or a `url` with `db_type="url"`."""
        return self._performer.run(self._flows.create({"name": name, "db_type": db_type, **fields}))

    def update(self, tap_id: int, **fields: Any) -> DbTap:
        """Change the given attributes; the others are unchanged."""
        return self._performer.run(self._flows.update(tap_id, fields))

    def delete(self, tap_id: int) -> Deleted:
        """Delete a tap."""
        return self._performer.run(self._flows.delete(tap_id))

    def tables(self, tap_id: int) -> builtins.list[DbTapTable]:
        """Return the tables and views that the tap's user can see."""
        return (self._performer.run(self._flows.tables(tap_id))).tables
