"""DB taps: stored connections to databases."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator
from typing import Any

from svc_jupyter.api.db_taps import DbTap, DbTapList, DbTapTable, Deleted
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.db_taps import DbTapFlows


class AsyncDbTaps:
    """DB taps, as `client.db_taps`."""

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = DbTapFlows(performer.link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> DbTapList:
        """Return one page of taps, newest first."""
        return await self._performer.run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[DbTap]:
        """Yield all taps, newest first."""
        for tap in await self._performer.run(self._flows.all()):
            yield tap

    async def get(self, tap_id: int) -> DbTap:
        """Return a tap; raises NotFound for an unknown id."""
        return await self._performer.run(self._flows.get(tap_id))

    async def find(self, name_or_id: str | int) -> DbTap:
        """Return the tap with a name or id. Raises NotFound with the nearest names, NotUnique with all ids."""
        return await self._performer.run(self._flows.find(name_or_id))

    async def create(self, name: str, db_type: str, **fields: Any) -> DbTap:
        """Create a tap from `db_host`, `port`, `db_name`, `db_user`, `db_passwd`, or a `url` with `db_type="url"`."""
        return await self._performer.run(self._flows.create({"name": name, "db_type": db_type, **fields}))

    async def update(self, tap_id: int, **fields: Any) -> DbTap:
        """Change the given attributes; the others are unchanged."""
        return await self._performer.run(self._flows.update(tap_id, fields))

    async def delete(self, tap_id: int) -> Deleted:
        """Delete a tap."""
        return await self._performer.run(self._flows.delete(tap_id))

    async def tables(self, tap_id: int) -> builtins.list[DbTapTable]:
        """Return the tables and views that the tap's user can see."""
        return (await self._performer.run(self._flows.tables(tap_id))).tables
