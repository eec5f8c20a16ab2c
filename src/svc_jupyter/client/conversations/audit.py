"""The audit log of the account, for its administrators."""

from __future__ import annotations

from collections.abc import Mapping

from svc_jupyter.api import paths
from svc_jupyter.api.audit import AuditLog
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link


class AuditFlows:
    """Requests for the audit log, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def page(self, page: int, per_page: int, filters: Mapping[str, int | str]) -> Flow[AuditLog]:
        query = {"page": page, "per_page": per_page, **filters}
        return fetch(self.link, Call("GET", paths.api("audit"), query), AuditLog)
