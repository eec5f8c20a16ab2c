"""Folders of notes and dashboards over HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Response

from svc_jupyter.api.fields import Id
from svc_jupyter.api.folders import (
    Folder,
    FolderChanged,
    FolderContents,
    FolderCreate,
    FolderDelete,
    FolderDeleted,
    FolderDeletion,
    FolderMove,
    FolderReference,
    FolderRename,
    FolderType,
)
from svc_jupyter.api.notes import LocationText
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.workspace.folder_lists import FolderLists
from svc_jupyter.service.workspace.folders import Folders
from svc_jupyter.service.workspace.searches import SearchText

router = resource_router(prefix="/folders", tags=["folders"])


async def _meant(
    body: FolderDelete | None = None,
    folder_id: Annotated[Id | None, Query()] = None,
    location: Annotated[LocationText | None, Query()] = None,
    type_: Annotated[FolderType | None, Query(alias="type")] = None,
) -> FolderReference:
    """Return the folder that the body names; what it does not say is taken from the query."""
    given: dict[str, Any] = {"folder_id": folder_id, "location": location, "type": type_}
    if body is not None:
        given |= body.model_dump(exclude_unset=True)
    if given["type"] is None:
        raise Invalid("type: Field required")
    return FolderReference(**given)


async def _in_query(
    type_: Annotated[FolderType, Query(alias="type")],
    folder_id: Annotated[Id | None, Query()] = None,
    location: Annotated[LocationText | None, Query()] = None,
) -> FolderReference:
    """Return the folder that the query names."""
    return FolderReference(folder_id=folder_id, location=location, type=type_)


SearchDep = Annotated[
    str | None,
    Query(max_length=255, description="part of the name of anything below the folder or of a note's text, or an id"),
]
FoldersDep = Annotated[Folders, part(Folders)]
ListsDep = Annotated[FolderLists, part(FolderLists)]


@router.get("", dependencies=[needs(Action.READ, Resource.FOLDER)], response_model=FolderContents)
def list_folder(
    type_: Annotated[FolderType, Query(alias="type")],
    lists: ListsDep,
    caller: CallerDep,
    page: PageDep,
    location: Annotated[LocationText | None, Query(description="without it: the roots")] = None,
    search: SearchDep = None,
) -> Response:
    """Return a page of a folder's content by name: folders first, then notes or dashboards.

    With `search`: all that is below it, or without a location anywhere, and has the text in its name, in the titles
    and texts of a note's paragraphs, or as its id. 404 if it does not exist.
    """
    if search:
        contents = lists.search(type_, location, SearchText(search), page, by=caller)
    else:
        contents = lists.list(type_, location, page, by=caller)
    # Without the detour over the response model, which takes longer than reading a hundred notes.
    return Response(contents.model_dump_json(exclude_unset=True), media_type="application/json")


@router.post("", dependencies=[needs(Action.CREATE, Resource.FOLDER)])
def create_folder(body: FolderCreate, folders: FoldersDep, caller: CallerDep) -> Folder:
    """Create a folder in the folder `location`. 422 for a taken name."""
    return folders.create(body, by=caller)


@router.put("/rename", dependencies=[needs(Action.UPDATE, Resource.FOLDER)])
def rename_folder(body: FolderRename, folders: FoldersDep, caller: CallerDep) -> Folder:
    """Rename a folder. 422 for a taken name and for a root."""
    return folders.rename(body, by=caller)


@router.post("/move", dependencies=[needs(Action.UPDATE, Resource.FOLDER)])
def move_folder(body: FolderMove, folders: FoldersDep, caller: CallerDep) -> FolderChanged:
    """Move a folder with its content.

    403 without `update` or `manage` on the target. 422 for a target in the folder itself, and for a taken name;
    then nothing has moved.
    """
    return folders.move(body, by=caller)


@router.get("/delete", dependencies=[needs(Action.DELETE, Resource.FOLDER)])
def preview_deletion(
    reference: Annotated[FolderReference, Depends(_in_query)], folders: FoldersDep, caller: CallerDep
) -> FolderDeletion:
    """Return how much deleting a folder would remove, without deleting it. Refused when the deletion would be."""
    return folders.deletion(reference, by=caller)


@router.delete("/delete", dependencies=[needs(Action.DELETE, Resource.FOLDER)])
def delete_folder(
    reference: Annotated[FolderReference, Depends(_meant)], folders: FoldersDep, caller: CallerDep
) -> FolderDeleted:
    """Delete a folder with its content. 409 while one of its notes runs."""
    return folders.delete(reference, by=caller)
