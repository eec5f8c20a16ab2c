"""Dashboards: what a note showed when it was published."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from svc_jupyter.api.fields import Id, PagingInfo, Record, Request
from svc_jupyter.api.notes import JsonObject, LocationText, NameText


class DashboardCreate(Request):
    """A dashboard of a note as it is now, in the folder at `location`. `config` is the viewer's own (its layout)."""

    note_id: Id
    name: NameText
    location: LocationText
    config: JsonObject | None = None


class DashboardUpdate(Request):
    """The attributes to change; the others stay. `refresh` takes over what the note says now."""

    name: NameText | None = None
    location: LocationText | None = None
    config: JsonObject | None = None
    refresh: bool = False


class DashboardClone(Request):
    """Where the copy goes: by default beside the dashboard, under a free name."""

    name: NameText | None = None
    location: LocationText | None = None


class DashboardSummary(Record):
    """A dashboard without what it shows: `note_revision` is the one of the note that it was made of."""

    id: int
    name: str
    location: str
    folder_id: int
    note_id: int
    note_revision: int
    version: int
    account_id: int
    user_id: int
    created_at: str
    updated_by: int
    updated_at: str


class Dashboard(DashboardSummary):
    """A dashboard with the note's paragraphs as they were."""

    paragraphs: list[dict[str, Any]]
    config: JsonObject = Field(default_factory=dict)


class DashboardList(Record):
    """One page of the dashboards of a note, newest first."""

    notebook_dashboards: list[DashboardSummary]
    paging_info: PagingInfo
