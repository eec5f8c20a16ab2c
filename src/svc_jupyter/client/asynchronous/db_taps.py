"""DB taps: stored connections to databases."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import DbTap, DbTapList, DbTapTable, DbTapTables, Deleted
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.requests.db_taps import chosen
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("db_taps")


class AsyncDbTaps:
    """DB taps, as `client.db_taps`."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self, *, page: int = 1, per_page: int = 10) -> DbTapList:
        """Return one page of taps, newest first."""
        return await self._sender.fetch(Call("GET", _RESOURCE, {"page": page, "per_page": per_page}), DbTapList)

    def iter(self) -> AsyncIterator[DbTap]:
        """Yield all taps, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE), lambda found: (found.db_taps, found.paging_info)
        )

    async def get(self, tap_id: int) -> DbTap:
        """Return a tap; raises NotFound for an unknown id."""
        return await self._sender.fetch(Call("GET", f"{_RESOURCE}/{tap_id}"), DbTap)

    async def find(self, name_or_id: str | int) -> DbTap:
        """Return the tap with a name or id. Raises NotFound with the nearest names, NotUnique with all ids."""
        if isinstance(name_or_id, int):
            return await self.get(name_or_id)
        return chosen(name_or_id, [tap async for tap in self.iter()])

    async def create(self, name: str, db_type: str, **fields: Any) -> DbTap:
        """Create a tap from `db_host`, `port`, `db_name`, `db_user`, `db_passwd`, or a `url` with `db_type="url"`."""
        body = {"name": name, "db_type": db_type, **fields}
        return await self._sender.fetch(Call("POST", _RESOURCE, body=body, headers=idempotency()), DbTap)

    async def update(self, tap_id: int, **fields: Any) -> DbTap:
        """Change the given attributes; the others are unchanged."""
        return await self._sender.fetch(Call("PUT", f"{_RESOURCE}/{tap_id}", body=fields), DbTap)

    async def delete(self, tap_id: int) -> Deleted:
        """Delete a tap."""
        return await self._sender.fetch(Call("DELETE", f"{_RESOURCE}/{tap_id}"), Deleted)

    async def tables(self, tap_id: int) -> builtins.list[DbTapTable]:
        """Return the tables and views that the tap's user can see."""
        answer = await self._sender.fetch(Call("GET", f"{_RESOURCE}/{tap_id}/tables"), DbTapTables)
        return answer.tables
