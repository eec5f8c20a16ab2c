"""Dashboards: published snapshots of notes."""
# Made from asynchronous/dashboards.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.dashboards import Dashboard, DashboardList
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.wire import idempotency, if_match

_RESOURCE = paths.api("notebook_dashboard")


class Dashboards:
    """Dashboards of notes, as `client.dashboards`. They are in folders of type `notebook_dashboards`.

    `if_version` is the `version` that was read: `Conflict` is raised if the dashboard has changed since.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, note_id: int, name: str, location: str, *, config: dict[str, Any] | None = None) -> Dashboard:
        """Publish a note as it is now; `config` is stored for the front end that displays it."""
        body = given(note_id=note_id, name=name, location=location, config=config)
        return self._sender.fetch(Call("POST", _RESOURCE, body=body, headers=idempotency()), Dashboard)

    def get(self, dashboard_id: int) -> Dashboard:
        """Return a dashboard with its paragraphs."""
        return self._sender.fetch(Call("GET", f"{_RESOURCE}/{dashboard_id}"), Dashboard)

    def update(self, dashboard_id: int, *, if_version: int | None = None, **fields: Any) -> Dashboard:
        """Change `name`, `location` (moves it) or `config`; `refresh=True` updates it from the note."""
        call = Call("PUT", f"{_RESOURCE}/{dashboard_id}", body=given(**fields), headers=if_match(if_version))
        return self._sender.fetch(call, Dashboard)

    def clone(self, dashboard_id: int, *, name: str | None = None, location: str | None = None) -> Dashboard:
        """Create a copy, by default in the same folder under a free name."""
        body = given(name=name, location=location)
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/{dashboard_id}/clone", body=body), Dashboard)

    def delete(self, dashboard_id: int, *, if_version: int | None = None) -> Deleted:
        """Delete a dashboard; its note stays."""
        call = Call("DELETE", f"{_RESOURCE}/{dashboard_id}", headers=if_match(if_version))
        return self._sender.fetch(call, Deleted)

    def of_note(self, note_id: int, *, page: int = 1, per_page: int = 10) -> DashboardList:
        """Return one page of the dashboards of a note, newest first."""
        call = Call("GET", paths.api(f"notebooks/{note_id}/list_dashboards"), {"page": page, "per_page": per_page})
        return self._sender.fetch(call, DashboardList)
