"""Dashboards: published snapshots of notes."""
# Made from asynchronous/dashboards.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from typing import Any

from svc_jupyter.api.dashboards import Dashboard, DashboardList
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.dashboards import DashboardFlows
from svc_jupyter.client.conversations.notes import given


class Dashboards:
    """Dashboards of notes, as `client.dashboards`. They are in folders of type `notebook_dashboards`.

    `if_version` is the `version` that was read: `Conflict` is raised if the dashboard has changed since.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = DashboardFlows(performer.link)

    def create(self, note_id: int, name: str, location: str, *, config: dict[str, Any] | None = None) -> Dashboard:
        """Publish a note as it is now; `config` is stored for the front end that displays it."""
        body = given({"note_id": note_id, "name": name, "location": location, "config": config})
        return self._performer.run(self._flows.create(body))

    def get(self, dashboard_id: int) -> Dashboard:
        """Return a dashboard with its paragraphs."""
        return self._performer.run(self._flows.get(dashboard_id))

    def update(self, dashboard_id: int, *, if_version: int | None = None, **fields: Any) -> Dashboard:
        """Change `name`, `location` (moves it) or `config`; `refresh=True` updates it from the note."""
        return self._performer.run(self._flows.update(dashboard_id, fields, if_version))

    def clone(self, dashboard_id: int, *, name: str | None = None, location: str | None = None) -> Dashboard:
        """Create a copy, by default in the same folder under a free name."""
        return self._performer.run(self._flows.clone(dashboard_id, name, location))

    def delete(self, dashboard_id: int, *, if_version: int | None = None) -> Deleted:
        """Delete a dashboard; its note stays."""
        return self._performer.run(self._flows.delete(dashboard_id, if_version))

    def of_note(self, note_id: int, *, page: int = 1, per_page: int = 10) -> DashboardList:
        """Return one page of the dashboards of a note, newest first."""
        return self._performer.run(self._flows.of_note(note_id, page, per_page))
