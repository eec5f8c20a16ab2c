"""The audit log of the account, for its administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from operator import attrgetter

from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.audit import AuditFlows
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class AsyncAudit:
    """Who changed what, when and from where, as `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = AuditFlows(performer.link)

    async def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        return await self._performer.run(self._flows.page(page, per_page, filters))

    async def iter(self, **filters: int | str) -> AsyncIterator[AuditEntry]:
        """Yield all changes, newest first."""
        pages: Pages[AuditEntry] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = await self.list(page=pages.page, per_page=WHOLE_PAGE, **filters)
            for entry in pages.take(listing.audit, listing.paging_info):
                yield entry
