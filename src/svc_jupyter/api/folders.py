"""Folders of notes and of dashboards."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from svc_jupyter.api.dashboards import DashboardSummary
from svc_jupyter.api.fields import Id, PagingInfo, Record, Request
from svc_jupyter.api.notes import LocationText, NameText, NoteSummary

NOTES = "notes"
DASHBOARDS = "notebook_dashboards"


def _known_type(value: Any) -> Any:
    if isinstance(value, str) and value not in (NOTES, DASHBOARDS):
        raise ValueError(
            f"must be {NOTES} or {DASHBOARDS}; folders of Jupyter notebooks are made, moved and deleted by the "
            "contents calls (jupyter_notebooks/contents)"
        )
    return value


FolderType = Annotated[Literal["notes", "notebook_dashboards"], BeforeValidator(_known_type)]
"""What a folder holds. Folders of Jupyter notebooks are files, and not here."""


class FolderCreate(Request):
    """A new folder in the folder at `location`."""

    name: NameText
    location: LocationText
    type: FolderType


class FolderReference(Request):
    """A folder by its id or by its location; when both are given they must agree."""

    folder_id: Id | None = None
    location: LocationText | None = None
    type: FolderType


class FolderRename(FolderReference):
    """A folder and the name it is to have."""

    name: NameText


class FolderMove(FolderReference):
    """A folder and the folder that it is to be in; it keeps its name."""

    destination_location: LocationText


class FolderDelete(Request):
    """A folder by its id or by its location; the same fields are taken from the query."""

    folder_id: Id | None = None
    location: LocationText | None = None
    type: FolderType | None = None


class Folder(Record):
    """A folder. `location` is its own, to be given to the other calls; a root has no parent and nobody made it."""

    id: int
    name: str
    location: str
    type: str
    parent_id: int | None = None
    user_id: int | None = None
    created_at: str


class FolderChanged(Record):
    """The answer to a move: the folder where it lies now."""

    success: bool = True
    message: str
    folder: Folder


class FolderCounts(Record):
    """How much went with a folder, itself included; with the notes also the dashboards that showed them."""

    folders: int
    notes: int
    notebook_dashboards: int


class FolderDeleted(FolderChanged):
    """The answer to a deletion: the folder as it was, and how much went."""

    deleted: FolderCounts


class FolderDeletion(Record):
    """What deleting a folder would take, itself included (our extension)."""

    message: str
    folder: Folder
    deletes: FolderCounts


class FolderContents(Record):
    """One page of what is in a folder, by name, folders first; `notes` or `notebook_dashboards` by the folder's type.

    Without a location the folders are the roots.
    """

    folders: list[Folder]
    notes: list[NoteSummary] = Field(default_factory=list)
    notebook_dashboards: list[DashboardSummary] = Field(default_factory=list)
    paging_info: PagingInfo
