"""The audit log of the account, for its administrators."""
# Made from asynchronous/audit.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from collections.abc import Iterator

from svc_jupyter.api import paths
from svc_jupyter.api.audit import AuditEntry, AuditLog
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call
from svc_jupyter.client.transport.reading import WHOLE_PAGE


class Audit:
    """Who changed what, when and from where: `client.audit`.

    `filters` are user_id, action, resource, object_id, trace_id, start_date and end_date.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def list(self, *, page: int = 1, per_page: int = 10, **filters: int | str) -> AuditLog:
        """Return one page of changes, newest first."""
        params = {"page": page, "per_page": per_page, **filters}
        return self._sender.fetch(Call("GET", paths.api("audit"), params), AuditLog)

    def iter(self, **filters: int | str) -> Iterator[AuditEntry]:
        """Yield all changes, newest first."""
        return self._sender.every(
            lambda page: self.list(page=page, per_page=WHOLE_PAGE, **filters),
            lambda found: (found.audit, found.paging_info),
        )
