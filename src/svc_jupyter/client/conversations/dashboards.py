"""Dashboards: published snapshots of notes."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.dashboards import Dashboard, DashboardList
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.conversations.notes import given, if_match
from svc_jupyter.client.transport.calls import Call, Flow, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("notebook_dashboard")


class DashboardFlows:
    """Requests about dashboards, for both clients."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def create(self, body: dict[str, Any]) -> Flow[Dashboard]:
        return fetch(self.link, Call("POST", _RESOURCE, body=body, headers=idempotency(str(uuid4()))), Dashboard)

    def get(self, dashboard_id: int) -> Flow[Dashboard]:
        return fetch(self.link, Call("GET", f"{_RESOURCE}/{dashboard_id}"), Dashboard)

    def update(self, dashboard_id: int, fields: dict[str, Any], if_version: int | None) -> Flow[Dashboard]:
        call = Call("PUT", f"{_RESOURCE}/{dashboard_id}", body=given(fields), headers=if_match(if_version))
        return fetch(self.link, call, Dashboard)

    def clone(self, dashboard_id: int, name: str | None, location: str | None) -> Flow[Dashboard]:
        body = given({"name": name, "location": location})
        return fetch(self.link, Call("PUT", f"{_RESOURCE}/{dashboard_id}/clone", body=body), Dashboard)

    def delete(self, dashboard_id: int, if_version: int | None) -> Flow[Deleted]:
        return fetch(self.link, Call("DELETE", f"{_RESOURCE}/{dashboard_id}", headers=if_match(if_version)), Deleted)

    def of_note(self, note_id: int, page: int, per_page: int) -> Flow[DashboardList]:
        path = paths.api(f"notebooks/{note_id}/list_dashboards")
        return fetch(self.link, Call("GET", path, {"page": page, "per_page": per_page}), DashboardList)
