"""DB taps: stored connections to databases."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from operator import attrgetter
from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.db_taps import DbTap, DbTapList, DbTapTables, Deleted
from svc_jupyter.client.errors import NotFound, NotUnique
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.reading import WHOLE_PAGE, Pages
from svc_jupyter.client.transport.wire import idempotency


class DbTapFlows:
    """Requests about taps, for both clients."""

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

    Raises NotFound with the nearest names, or NotUnique.
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
