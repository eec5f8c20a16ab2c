"""Dashboards: what notes showed when they were published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.dashboards import Dashboard, DashboardList
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.calls import Call, Flow, fetch
from svc_jupyter.client.link import Link
from svc_jupyter.client.note_calls import given, if_match
from svc_jupyter.client.wire import idempotency

if TYPE_CHECKING:
    from svc_jupyter.client.async_client import AsyncClient
    from svc_jupyter.client.client import Client

_RESOURCE = paths.api("notebook_dashboard")


class _DashboardFlows:
    """What both kinds of client say to the service about dashboards."""

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


class Dashboards:
    """Dashboards of notes, as `client.dashboards`. They lie in folders of type `notebook_dashboards`.

    `if_version` is the `version` of what was read: when somebody changed it since, `Conflict` is raised.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._flows = _DashboardFlows(client._link)

    def create(self, note_id: int, name: str, location: str, *, config: dict[str, Any] | None = None) -> Dashboard:
        """Publish a note as it is now; `config` is kept for whoever shows it."""
        body = given({"note_id": note_id, "name": name, "location": location, "config": config})
        return self._client._run(self._flows.create(body))

    def get(self, dashboard_id: int) -> Dashboard:
        """Return a dashboard with the paragraphs that it shows."""
        return self._client._run(self._flows.get(dashboard_id))

    def update(self, dashboard_id: int, *, if_version: int | None = None, **fields: Any) -> Dashboard:
        """Change `name`, `location` (moves it) or `config`; with `refresh=True` take over what the note says now."""
        return self._client._run(self._flows.update(dashboard_id, fields, if_version))

    def clone(self, dashboard_id: int, *, name: str | None = None, location: str | None = None) -> Dashboard:
        """Make a copy, by default beside the dashboard under a free name."""
        return self._client._run(self._flows.clone(dashboard_id, name, location))

    def delete(self, dashboard_id: int, *, if_version: int | None = None) -> Deleted:
        """Delete a dashboard; its note stays."""
        return self._client._run(self._flows.delete(dashboard_id, if_version))

    def of_note(self, note_id: int, *, page: int = 1, per_page: int = 10) -> DashboardList:
        """Return one page of the dashboards of a note, newest first."""
        return self._client._run(self._flows.of_note(note_id, page, per_page))


class AsyncDashboards:
    """Dashboards of notes, as `client.dashboards`. They lie in folders of type `notebook_dashboards`.

    `if_version` is the `version` of what was read: when somebody changed it since, `Conflict` is raised.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._flows = _DashboardFlows(client._link)

    async def create(
        self, note_id: int, name: str, location: str, *, config: dict[str, Any] | None = None
    ) -> Dashboard:
        """Publish a note as it is now; `config` is kept for whoever shows it."""
        body = given({"note_id": note_id, "name": name, "location": location, "config": config})
        return await self._client._run(self._flows.create(body))

    async def get(self, dashboard_id: int) -> Dashboard:
        """Return a dashboard with the paragraphs that it shows."""
        return await self._client._run(self._flows.get(dashboard_id))

    async def update(self, dashboard_id: int, *, if_version: int | None = None, **fields: Any) -> Dashboard:
        """Change `name`, `location` (moves it) or `config`; with `refresh=True` take over what the note says now."""
        return await self._client._run(self._flows.update(dashboard_id, fields, if_version))

    async def clone(self, dashboard_id: int, *, name: str | None = None, location: str | None = None) -> Dashboard:
        """Make a copy, by default beside the dashboard under a free name."""
        return await self._client._run(self._flows.clone(dashboard_id, name, location))

    async def delete(self, dashboard_id: int, *, if_version: int | None = None) -> Deleted:
        """Delete a dashboard; its note stays."""
        return await self._client._run(self._flows.delete(dashboard_id, if_version))

    async def of_note(self, note_id: int, *, page: int = 1, per_page: int = 10) -> DashboardList:
        """Return one page of the dashboards of a note, newest first."""
        return await self._client._run(self._flows.of_note(note_id, page, per_page))
