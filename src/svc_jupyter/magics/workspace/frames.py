"""Folder contents as DataFrames; times are in UTC, `path` can be passed to the other actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from svc_jupyter.magics.display.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd

    from svc_jupyter.api.dashboards import DashboardSummary
    from svc_jupyter.api.folders import FolderContents
    from svc_jupyter.api.notes import NoteRevision, NoteSummary

CONTENTS_COLUMNS = ("name", "kind", "id", "path", "updated_at")
NOTE_COLUMNS = ("name", "id", "path", "note_type", "cluster_id", "version", "updated_at")
DASHBOARD_COLUMNS = ("name", "id", "path", "note_id", "note_revision", "updated_at")
REVISION_COLUMNS = ("number", "created_at", "user_id", "size")


def contents_frame(contents: FolderContents) -> pd.DataFrame:
    """Return a row per folder, note and dashboard of a folder, in the service's order; folders have no times."""
    rows: list[tuple[Any, ...]] = [(one.name, "folder", one.id, one.location, None) for one in contents.folders]
    for kind, objects in (("note", contents.notes), ("dashboard", contents.notebook_dashboards)):
        rows += [(one.name, kind, one.id, f"{one.location}/{one.name}", one.updated_at) for one in objects]
    rows = [(row[0] or row[3], *row[1:]) for row in rows]
    return frame_of(CONTENTS_COLUMNS, rows, times=("updated_at",))


def notes_frame(notes: Iterable[NoteSummary]) -> pd.DataFrame:
    """Return a row per note; `cluster_id` is missing if it is not bound to a cluster."""
    rows = [
        (
            note.name,
            note.id,
            f"{note.location}/{note.name}",
            note.note_type,
            note.cluster_id,
            note.version,
            note.updated_at,
        )
        for note in notes
    ]
    return frame_of(NOTE_COLUMNS, rows, times=("updated_at",), integers=("cluster_id",))


def dashboards_frame(dashboards: Iterable[DashboardSummary]) -> pd.DataFrame:
    """Return a row per dashboard, with its note and the note's revision."""
    rows = [
        (one.name, one.id, f"{one.location}/{one.name}", one.note_id, one.note_revision, one.updated_at)
        for one in dashboards
    ]
    return frame_of(DASHBOARD_COLUMNS, rows, times=("updated_at",))


def revisions_frame(revisions: Iterable[NoteRevision]) -> pd.DataFrame:
    """Return a row per revision of a note, newest first; `size` is in bytes."""
    rows = [(one.number, one.created_at, one.user_id, one.size) for one in revisions]
    return frame_of(REVISION_COLUMNS, rows, times=("created_at",))
