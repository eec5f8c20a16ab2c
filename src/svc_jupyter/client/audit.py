"""The audit log of the account, for its administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING

from svc_jupyter.api import paths
from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link
from svc_jupyter.client.paging import WHOLE_PAGE, Pages

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client


class _AuditFlows:
    """What both kinds of client say to the service about changes."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int, filters: Mapping[str, int | str]) -> Flow[AuditLog]:
        query = {"page": page, "per_page": per_page, **filters}
        return fetch(self.link, Call("GET", paths.api("audit"), query), AuditLog)


class Audit:
    """Who changed what, when and from where, as `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _AuditFlows(client._link)

    def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        return self._client._run(self._flows.page(page, per_page, filters))

    def iter(self, **filters: int | str) -> Iterator[AuditEntry]:
        """Yield all changes, newest first."""
        pages: Pages[AuditEntry] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE, **filters)
            yield from pages.take(listing.audit, listing.paging_info)


class AsyncAudit:
    """Who changed what, when and from where, as `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _AuditFlows(client._link)

    async def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        return await self._client._run(self._flows.page(page, per_page, filters))

    async def iter(self, **filters: int | str) -> AsyncIterator[AuditEntry]:
        """Yield all changes, newest first."""
        pages: Pages[AuditEntry] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE, **filters)
            for entry in pages.take(listing.audit, listing.paging_info):
                yield entry
