"""The audit log of the account, for its administrators."""

from __future__ import annotations

from collections.abc import AsyncIterator

from svc_jupyter.api import paths
from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.asynchronous.sender import AsyncSender
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class AsyncAudit:
    """Who changed what, when and from where: `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        params = {"page": page, "per_page": per_page, **filters}
        return await self._sender.fetch(Call("GET", paths.api("audit"), params), AuditLog)

    def iter(self, **filters: int | str) -> AsyncIterator[AuditEntry]:
        """Yield all changes, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE, **filters),
            lambda found: (found.audit, found.paging_info),
        )
