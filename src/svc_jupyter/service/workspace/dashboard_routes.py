"""Dashboards over HTTP."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Header, Response

from svc_jupyter.api.dashboards import Dashboard, DashboardClone, DashboardCreate, DashboardUpdate
from svc_jupyter.api.db_taps import Deleted
from svc_jupyter.api.fields import Id
from svc_jupyter.service.access.dependencies import CallerDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.workspace.dashboards import Dashboards, ReadDashboard
from svc_jupyter.service.workspace.note_store import etag

router = resource_router(prefix="/notebook_dashboard", tags=["dashboards"])
_DASHBOARD: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Dashboard,
        "headers": {"ETag": {"description": "the version, for If-Match", "schema": {"type": "string"}}},
    }
}


DashboardsDep = Annotated[Dashboards, part(Dashboards)]
IfMatch = Annotated[str | None, Header(description="the ETag of what was read: 409 when it was changed since")]


@router.post(
    "",
    dependencies=[needs(Action.READ, Resource.NOTE), needs(Action.CREATE, Resource.NOTEBOOK_DASHBOARD)],
    responses=_DASHBOARD,
)
def create_dashboard(body: DashboardCreate, dashboards: DashboardsDep, caller: CallerDep) -> Response:
    """Publish a note in its current state. 422 for a taken name, 404 for an unknown note."""
    return _answer(dashboards.create(body, by=caller))


@router.get("/{dashboard_id}", dependencies=[needs(Action.READ, Resource.NOTEBOOK_DASHBOARD)], responses=_DASHBOARD)
def get_dashboard(dashboard_id: Id, dashboards: DashboardsDep, caller: CallerDep) -> Response:
    """Return a dashboard with its content."""
    return _answer(dashboards.get(dashboard_id, by=caller))


@router.put(
    "/{dashboard_id}",
    dependencies=[needs(Action.READ, Resource.NOTEBOOK_DASHBOARD), needs(Action.UPDATE, Resource.NOTEBOOK_DASHBOARD)],
    responses=_DASHBOARD,
)
def update_dashboard(
    dashboard_id: Id, body: DashboardUpdate, dashboards: DashboardsDep, caller: CallerDep, if_match: IfMatch = None
) -> Response:
    """Rename, move, lay out or refresh a dashboard. 409 if If-Match names another version than the current one."""
    return _answer(dashboards.update(dashboard_id, body, if_match, by=caller))


@router.put(
    "/{dashboard_id}/clone",
    dependencies=[needs(Action.READ, Resource.NOTEBOOK_DASHBOARD), needs(Action.CREATE, Resource.NOTEBOOK_DASHBOARD)],
    responses=_DASHBOARD,
)
def clone_dashboard(dashboard_id: Id, body: DashboardClone, dashboards: DashboardsDep, caller: CallerDep) -> Response:
    """Copy a dashboard and return the copy.

    Without a name it gets an unused one, without a location it is in the same folder.
    """
    return _answer(dashboards.clone(dashboard_id, body, by=caller))


@router.delete("/{dashboard_id}", dependencies=[needs(Action.DELETE, Resource.NOTEBOOK_DASHBOARD)])
def delete_dashboard(
    dashboard_id: Id, dashboards: DashboardsDep, caller: CallerDep, if_match: IfMatch = None
) -> Deleted:
    """Delete a dashboard; its note stays."""
    dashboards.delete(dashboard_id, if_match, by=caller)
    return Deleted(id=dashboard_id)


def _answer(dashboard: ReadDashboard) -> Response:
    content = dashboard.summary.model_dump() | dashboard.document
    text = json.dumps(content, separators=(",", ":"))
    headers = {"ETag": etag(dashboard.summary.version)}
    return Response(text, headers=headers, media_type="application/json")
