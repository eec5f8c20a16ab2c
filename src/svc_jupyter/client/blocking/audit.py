"""The audit log of the account, for its administrators."""
# Made from asynchronous/audit.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator

from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.audit import AuditFlows
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class Audit:
    """Who changed what, when and from where: `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = AuditFlows(performer.link)

    def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        return self._performer.run(self._flows.page(page, per_page, filters))

    def iter(self, **filters: int | str) -> Iterator[AuditEntry]:
        """Yield all changes, newest first."""
        return self._performer.every(
            lambda page: self._flows.page(page, WHOLE_PAGE, filters), lambda found: (found.audit, found.paging_info)
        )
