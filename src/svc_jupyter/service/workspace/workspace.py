"""The parts of the workspace in the database."""

from __future__ import annotations

from dataclasses import dataclass

from svc_jupyter.service.database.database import Database
from svc_jupyter.service.workspace.dashboards import Dashboards
from svc_jupyter.service.workspace.folder_lists import FolderLists
from svc_jupyter.service.workspace.folder_lookup import FolderLookup
from svc_jupyter.service.workspace.folders import Folders
from svc_jupyter.service.workspace.note_history import NoteHistory
from svc_jupyter.service.workspace.notes import Notes


@dataclass(frozen=True, slots=True)
class Workspace:
    """Folders, notes and dashboards over one database. All methods block: worker threads call them."""

    folders: Folders
    lists: FolderLists
    notes: Notes
    history: NoteHistory
    dashboards: Dashboards

    @classmethod
    def of(cls, database: Database) -> Workspace:
        """Return the workspace over a database."""
        places = FolderLookup(database)
        return cls(Folders(places), FolderLists(places), Notes(places), NoteHistory(places), Dashboards(places))
