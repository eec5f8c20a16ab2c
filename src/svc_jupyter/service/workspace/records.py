"""Rows of the workspace as records of the contract."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.dashboards import DashboardSummary
from svc_jupyter.api.folders import Folder
from svc_jupyter.api.notes import NoteSummary
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.schema.workspace import dashboards, notes
from svc_jupyter.service.workspace.contents_paths import ContentsPath

NOTE_COLUMNS = tuple(notes.c)
DASHBOARD_COLUMNS = tuple(column for column in dashboards.c if column is not dashboards.c.document)


def folder_record(row: sa.Row[Any], path: ContentsPath) -> Folder:
    """Return a folder's record; `path` is its own."""
    return Folder(
        id=row.id,
        name=path.name,
        location=str(path),
        type=row.type,
        parent_id=row.parent_id,
        user_id=row.user_id,
        created_at=iso_time(row.created_at),
    )


def note_summary(row: sa.Row[Any], folder: ContentsPath) -> NoteSummary:
    """Return a note's record without its document; `folder` is the path of its folder."""
    return NoteSummary(
        **_edited(row, folder), note_type=row.note_type, cluster_id=row.cluster_id, revision=row.revision
    )


def dashboard_summary(row: sa.Row[Any], folder: ContentsPath) -> DashboardSummary:
    """Return a dashboard's record without its contents; `folder` is the path of its folder."""
    return DashboardSummary(**_edited(row, folder), note_id=row.note_id, note_revision=row.note_revision)


def _edited(row: sa.Row[Any], folder: ContentsPath) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "location": str(folder),
        "folder_id": row.folder_id,
        "version": row.version,
        "account_id": row.account_id,
        "user_id": row.user_id,
        "created_at": iso_time(row.created_at),
        "updated_by": row.updated_by,
        "updated_at": iso_time(row.updated_at),
    }
