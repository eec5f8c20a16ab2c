"""The audit log of the account, for its administrators."""
# Made from asynchronous/audit.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.audit import AuditFlows
from svc_jupyter.client.transport.paging import WHOLE_PAGE, Pages


class Audit:
    """Who changed what, when and from where, as `client.audit`.

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
        pages: Pages[AuditEntry] = Pages(attrgetter("id"))
        while pages.page is not None:
            listing = self.list(page=pages.page, per_page=WHOLE_PAGE, **filters)
            yield from pages.take(listing.audit, listing.paging_info)
