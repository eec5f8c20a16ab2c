"""Notes over HTTP. The routes are no coroutines: large documents are worked on in threads."""

from __future__ import annotations

import json
from functools import cache, partial
from typing import Annotated, Any

from fastapi import Header, Query, Response

from svc_jupyter.api.dashboards import DashboardList
from svc_jupyter.api.fields import Id
from svc_jupyter.api.notes import (
    Note,
    NoteClone,
    NoteCreate,
    NoteDeleted,
    NoteFormList,
    NoteImport,
    NoteList,
    NoteReplacement,
    NoteRevisionDocument,
    NoteRevisionList,
    NoteUpdate,
)
from svc_jupyter.service.access.dependencies import CallerDep, PageDep
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.access.route_rights import needs
from svc_jupyter.service.http.rooms import part
from svc_jupyter.service.http.routers import resource_router
from svc_jupyter.service.workspace import note_files
from svc_jupyter.service.workspace.dashboards import Dashboards
from svc_jupyter.service.workspace.note_documents import Document, checked, shown
from svc_jupyter.service.workspace.note_files import FileFormat
from svc_jupyter.service.workspace.note_forms import forms_of
from svc_jupyter.service.workspace.note_history import NoteHistory
from svc_jupyter.service.workspace.note_store import etag
from svc_jupyter.service.workspace.notes import Notes, ReadNote

router = resource_router(prefix="/notebooks", tags=["notes"])
_ETAG = {"ETag": {"description": "the version, for If-Match", "schema": {"type": "string"}}}
_NOTE: dict[int | str, dict[str, Any]] = {200: {"model": Note, "headers": _ETAG}}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The note as a file",
        "content": {media_type: {"schema": {"type": "object"}} for media_type in note_files.MEDIA_TYPES.values()},
    }
}


NotesDep = Annotated[Notes, part(Notes)]
HistoryDep = Annotated[NoteHistory, part(NoteHistory)]
DashboardsDep = Annotated[Dashboards, part(Dashboards)]
IfMatch = Annotated[str | None, Header(description="the ETag of what was read: 409 when it was changed since")]


@router.post("", dependencies=[needs(Action.CREATE, Resource.NOTE)], responses=_NOTE)
def create_note(body: NoteCreate, notes: NotesDep, caller: CallerDep) -> Response:
    """Create a note in the folder `location`. 422 for a taken name."""
    return _answer(notes.create(body, by=caller))


@router.post("/import", dependencies=[needs(Action.CREATE, Resource.NOTE)], responses=_NOTE)
def import_note(body: NoteImport, notes: NotesDep, caller: CallerDep) -> Response:
    """Create a note from a `.zpln` document's `paragraphs` or an `.ipynb` file's `cells`. 422 without either."""
    document, message = note_files.imported(body)
    return _answer(notes.store(body, document, by=caller), message)


@router.post("/forms", dependencies=[needs(Action.READ, Resource.NOTE)], responses={200: {"model": NoteFormList}})
def read_note_forms(body: NoteReplacement) -> Response:
    """Return the forms of a document that need not be stored: the `paragraphs` of a `.zpln` or the `cells` of an
    `.ipynb`. Nothing is saved.
    """
    return _json({"forms": _forms(checked(note_files.imported(body).document))})


@router.get("", dependencies=[needs(Action.READ, Resource.NOTE)])
def list_notes(notes: NotesDep, caller: CallerDep, page: PageDep) -> NoteList:
    """Return a page of the notes that the caller may read, newest first, without their documents."""
    return notes.list(page, by=caller)


@router.get("/{note_id}", dependencies=[needs(Action.READ, Resource.NOTE)], responses=_NOTE)
def get_note(note_id: Id, notes: NotesDep, caller: CallerDep) -> Response:
    """Return a note with its document and forms."""
    return _answer(notes.get(note_id, by=caller))


@router.put(
    "/{note_id}", dependencies=[needs(Action.READ, Resource.NOTE), needs(Action.UPDATE, Resource.NOTE)], responses=_NOTE
)
def update_note(
    note_id: Id, body: NoteUpdate, notes: NotesDep, caller: CallerDep, if_match: IfMatch = None
) -> Response:
    """Save the given parts of a note, rename, move or bind it.

    409 if If-Match names another version than the current one.
    """
    return _answer(notes.update(note_id, body, if_match, by=caller))


@router.put(
    "/{note_id}/import",
    dependencies=[needs(Action.READ, Resource.NOTE), needs(Action.UPDATE, Resource.NOTE)],
    responses=_NOTE,
)
def replace_note_document(
    note_id: Id, body: NoteReplacement, notes: NotesDep, caller: CallerDep, if_match: IfMatch = None
) -> Response:
    """Replace a note's document by a `.zpln` document's `paragraphs` or an `.ipynb` file's `cells`."""
    read = cache(partial(note_files.imported, body))
    note = notes.replace_document(note_id, lambda: read().document, if_match, by=caller)
    return _answer(note, read().message)


@router.delete("/{note_id}", dependencies=[needs(Action.DELETE, Resource.NOTE)])
def delete_note(note_id: Id, notes: NotesDep, caller: CallerDep, if_match: IfMatch = None) -> NoteDeleted:
    """Delete a note and its dashboards. 409 while it runs."""
    return notes.delete(note_id, if_match, by=caller)


@router.put(
    "/{note_id}/clone",
    dependencies=[needs(Action.READ, Resource.NOTE), needs(Action.CREATE, Resource.NOTE)],
    responses=_NOTE,
)
def clone_note(note_id: Id, body: NoteClone, notes: NotesDep, caller: CallerDep) -> Response:
    """Copy a note and return the copy.

    Without a name it gets an unused one, without a location it is in the same folder.
    """
    return _answer(notes.clone(note_id, body, by=caller))


@router.get(
    "/{note_id}/export", dependencies=[needs(Action.READ, Resource.NOTE)], responses=_FILE, response_class=Response
)
def export_note(
    note_id: Id,
    notes: NotesDep,
    caller: CallerDep,
    format_: Annotated[FileFormat, Query(alias="format")] = "zpln",
) -> Response:
    """Return a note as a file, which can be imported again without loss."""
    note = notes.get(note_id, by=caller)
    headers = {"Content-Disposition": note_files.disposition(note, format_)}
    return Response(note_files.exported(note, format_), headers=headers, media_type=note_files.MEDIA_TYPES[format_])


@router.get("/{note_id}/list_dashboards", dependencies=[needs(Action.READ, Resource.NOTE)])
def list_note_dashboards(note_id: Id, dashboards: DashboardsDep, caller: CallerDep, page: PageDep) -> DashboardList:
    """Return a page of the dashboards that show a note, newest first."""
    return dashboards.of_note(note_id, page, by=caller)


@router.get("/{note_id}/revisions", dependencies=[needs(Action.READ, Resource.NOTE)])
def list_note_revisions(note_id: Id, history: HistoryDep, caller: CallerDep, page: PageDep) -> NoteRevisionList:
    """Return a page of the earlier states of a note's document, newest first."""
    return history.list(note_id, page, by=caller)


@router.get(
    "/{note_id}/revisions/{number}",
    dependencies=[needs(Action.READ, Resource.NOTE)],
    responses={200: {"model": NoteRevisionDocument}},
)
def get_note_revision(note_id: Id, number: Id, history: HistoryDep, caller: CallerDep) -> Response:
    """Return a revision with its document."""
    found = history.get(note_id, number, by=caller)
    return _json(found.revision.model_dump() | shown(found.document))


@router.put(
    "/{note_id}/revisions/{number}/restore",
    dependencies=[needs(Action.READ, Resource.NOTE), needs(Action.UPDATE, Resource.NOTE)],
    responses=_NOTE,
)
def restore_note_revision(
    note_id: Id, number: Id, history: HistoryDep, caller: CallerDep, if_match: IfMatch = None
) -> Response:
    """Restore a note's document from a revision. The states in between stay in the list."""
    return _answer(history.restore(note_id, number, if_match, by=caller))


def _answer(note: ReadNote, message: str | None = None) -> Response:
    content = note.summary.model_dump() | shown(note.document) | {"forms": _forms(note.document), "message": message}
    return _json(content, {"ETag": etag(note.summary.version)})


def _forms(document: Document) -> list[dict[str, Any]]:
    return [form.model_dump() for form in forms_of(document)]


def _json(content: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    """Return JSON by the writer that takes whatever a document holds, half of a character pair among it."""
    return Response(json.dumps(content, separators=(",", ":")), headers=headers, media_type="application/json")
