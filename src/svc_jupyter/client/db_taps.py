"""DB taps: stored connections to databases."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Iterator, Sequence
from difflib import get_close_matches
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import DbTap, DbTapList, DbTapTable, DbTapTables, Deleted
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.errors import NotFound, NotUnique
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client


class _DbTapFlows:
    """What both kinds of client say to the service about taps."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int) -> Flow[DbTapList]:
        return fetch(self.link, Call("GET", paths.api("db_taps"), {"page": page, "per_page": per_page}), DbTapList)

    def get(self, tap_id: int) -> Flow[DbTap]:
        return fetch(self.link, Call("GET", paths.api(f"db_taps/{tap_id}")), DbTap)

    def create(self, fields: dict[str, Any]) -> Flow[DbTap]:
        call = Call("POST", paths.api("db_taps"), body=fields, headers=idempotency(str(uuid4())))
        return fetch(self.link, call, DbTap)

    def update(self, tap_id: int, fields: dict[str, Any]) -> Flow[DbTap]:
        return fetch(self.link, Call("PUT", paths.api(f"db_taps/{tap_id}"), body=fields), DbTap)

    def delete(self, tap_id: int) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", paths.api(f"db_taps/{tap_id}")), Deleted)

    def tables(self, tap_id: int) -> Flow[DbTapTables]:
        return fetch(self.link, Call("GET", paths.api(f"db_taps/{tap_id}/tables")), DbTapTables)

    def all(self) -> Flow[list[DbTap]]:
        pages: Pages[DbTap] = Pages(attrgetter("id"))
        taps: list[DbTap] = []
        while pages.page is not None:
            listing = yield from self.page(pages.page, WHOLE_PAGE)
            taps += pages.take(listing.db_taps, listing.paging_info)
        return taps

    def find(self, name_or_id: str | int) -> Flow[DbTap]:
        if isinstance(name_or_id, int):
            return (yield from self.get(name_or_id))
        taps = yield from self.all()
        return chosen(name_or_id, taps)


def chosen(name_or_id: str, taps: Sequence[DbTap]) -> DbTap:
    """Return the tap with this name, else the one with these digits as its id.

    Raises NotFound, naming the nearest names, or NotUnique.
    """
    named = [tap for tap in taps if tap.name == name_or_id]
    if len(named) > 1:
        ids = ", ".join(str(tap.id) for tap in named)
        raise NotUnique(f"{len(named)} DB taps are named {name_or_id!r}; give the id: {ids}")
    if named:
        return named[0]
    if with_id := [tap for tap in taps if str(tap.id) == name_or_id]:
        return with_id[0]
    names = sorted({tap.name for tap in taps})
    near = get_close_matches(name_or_id, names, n=3) or names[:10]
    hint = f"did you mean {' or '.join(near)}?" if near else "there are no DB taps yet"
    raise NotFound(f"there is no DB tap {name_or_id!r}; {hint}", status=404)


class DbTaps:
    """DB taps, as `client.db_taps`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _DbTapFlows(client._link)

    def list(self, *, page: int = 1, per_page: int = 10) -> DbTapList:
        """Return one page of taps, newest first."""
        return self._client._run(self._flows.page(page, per_page))

    def iter(self) -> Iterator[DbTap]:
        """Yield all taps, newest first."""
        yield from self._client._run(self._flows.all())

    def get(self, tap_id: int) -> DbTap:
        """Return a tap; NotFound when there is none with this id."""
        return self._client._run(self._flows.get(tap_id))

    def find(self, name_or_id: str | int) -> DbTap:
        """Return the tap with a name or an id; NotFound names the nearest ones, NotUnique the ids of several."""
        return self._client._run(self._flows.find(name_or_id))

    def create(self, name: str, db_type: str, **fields: Any) -> DbTap:
        """Make a tap of `db_host`, `port`, `db_name`, `db_user`, `db_passwd`, or of a `url` with `db_type="url"`."""
        return self._client._run(self._flows.create({"name": name, "db_type": db_type, **fields}))

    def update(self, tap_id: int, **fields: Any) -> DbTap:
        """Change the given attributes; the others stay."""
        return self._client._run(self._flows.update(tap_id, fields))

    def delete(self, tap_id: int) -> Deleted:
        """Delete a tap."""
        return self._client._run(self._flows.delete(tap_id))

    def tables(self, tap_id: int) -> builtins.list[DbTapTable]:
        """Return the tables and views that the tap's user can see."""
        return self._client._run(self._flows.tables(tap_id)).tables


class AsyncDbTaps:
    """DB taps, as `client.db_taps`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _DbTapFlows(client._link)

    async def list(self, *, page: int = 1, per_page: int = 10) -> DbTapList:
        """Return one page of taps, newest first."""
        return await self._client._run(self._flows.page(page, per_page))

    async def iter(self) -> AsyncIterator[DbTap]:
        """Yield all taps, newest first."""
        for tap in await self._client._run(self._flows.all()):
            yield tap

    async def get(self, tap_id: int) -> DbTap:
        """Return a tap; NotFound when there is none with this id."""
        return await self._client._run(self._flows.get(tap_id))

    async def find(self, name_or_id: str | int) -> DbTap:
        """Return the tap with a name or an id; NotFound names the nearest ones, NotUnique the ids of several."""
        return await self._client._run(self._flows.find(name_or_id))

    async def create(self, name: str, db_type: str, **fields: Any) -> DbTap:
        """Make a tap of `db_host`, `port`, `db_name`, `db_user`, `db_passwd`, or of a `url` with `db_type="url"`."""
        return await self._client._run(self._flows.create({"name": name, "db_type": db_type, **fields}))

    async def update(self, tap_id: int, **fields: Any) -> DbTap:
        """Change the given attributes; the others stay."""
        return await self._client._run(self._flows.update(tap_id, fields))

    async def delete(self, tap_id: int) -> Deleted:
        """Delete a tap."""
        return await self._client._run(self._flows.delete(tap_id))

    async def tables(self, tap_id: int) -> builtins.list[DbTapTable]:
        """Return the tables and views that the tap's user can see."""
        return (await self._client._run(self._flows.tables(tap_id))).tables
