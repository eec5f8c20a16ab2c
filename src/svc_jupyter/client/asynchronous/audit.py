"""The audit log of the account, for its administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator

from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.audit import AuditFlows
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncAudit:
    """Who changed what, when and from where: `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = AuditFlows(performer.link)

    async def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        return await self._performer.run(self._flows.page(page, per_page, filters))

    def iter(self, **filters: int | str) -> AsyncIterator[AuditEntry]:
        """Yield all changes, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE, filters), lambda found: (found.audit, found.paging_info)
        )
