"""Requests about notes, for both clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from svc_jupyter.api import paths
from svc_jupyter.api.notes import Note, NoteDeleted, NoteList, NoteRevisionDocument, NoteRevisionList
from svc_jupyter.client.errors import Invalid
from svc_jupyter.client.transport.calls import Call, Flow, exchange, fetch
from svc_jupyter.client.transport.link import Link
from svc_jupyter.client.transport.wire import idempotency

_RESOURCE = paths.api("notebooks")
_SAVED = ("name", "cluster_id", "paragraphs", "noteParams", "noteForms", "config", "info")
Headers = tuple[tuple[str, str], ...]


class NoteFlows:
    """Requests about notes, their files and their revisions."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def create(self, location: str, name: str, fields: Mapping[str, Any]) -> Flow[Note]:
        """Create a note and return it."""
        return self._posted(_RESOURCE, {"name": name, "location": location, **given(fields)})

    def get(self, note_id: int) -> Flow[Note]:
        """Return a note."""
        return fetch(self.link, Call("GET", f"{_RESOURCE}/{note_id}"), Note)

    def page(self, page: int, per_page: int) -> Flow[NoteList]:
        """Return one page of the notes."""
        return fetch(self.link, Call("GET", _RESOURCE, {"page": page, "per_page": per_page}), NoteList)

    def update(self, note_id: int, fields: Mapping[str, Any], if_version: int | None) -> Flow[Note]:
        """Change attributes of a note and return it."""
        call = Call("PUT", f"{_RESOURCE}/{note_id}", body=given(fields), headers=if_match(if_version))
        return fetch(self.link, call, Note)

    def save(self, note: Note) -> Flow[Note]:
        """Save a note over the version that was read."""
        fields = {name: getattr(note, name) for name in _SAVED}
        fields["cluster_id"] = note.cluster_id or 0
        return self.update(note.id, fields, note.version)

    def clone(self, note_id: int, name: str | None, location: str | None) -> Flow[Note]:
        """Create a copy and return it."""
        body = given({"name": name, "location": location})
        return fetch(self.link, Call("PUT", f"{_RESOURCE}/{note_id}/clone", body=body), Note)

    def delete(self, note_id: int, if_version: int | None) -> Flow[NoteDeleted]:
        """Delete a note."""
        call = Call("DELETE", f"{_RESOURCE}/{note_id}", headers=if_match(if_version))
        return fetch(self.link, call, NoteDeleted)

    def import_document(
        self, document: Mapping[str, Any], name: str, location: str, fields: Mapping[str, Any]
    ) -> Flow[Note]:
        """Create a note from a file's JSON and return it."""
        return self._posted(f"{_RESOURCE}/import", {**document, "name": name, "location": location, **given(fields)})

    def export(self, note_id: int, file_format: str) -> Flow[bytes]:
        """Return a note as a file."""
        call = Call("GET", f"{_RESOURCE}/{note_id}/export", {"format": file_format}, accept="*/*")
        response = yield from exchange(self.link, call)
        return response.content

    def revisions(self, note_id: int, page: int, per_page: int) -> Flow[NoteRevisionList]:
        """Return one page of a note's revisions."""
        call = Call("GET", f"{_RESOURCE}/{note_id}/revisions", {"page": page, "per_page": per_page})
        return fetch(self.link, call, NoteRevisionList)

    def revision(self, note_id: int, number: int) -> Flow[NoteRevisionDocument]:
        """Return a revision with its document."""
        return fetch(self.link, Call("GET", f"{_RESOURCE}/{note_id}/revisions/{number}"), NoteRevisionDocument)

    def restore(self, note_id: int, number: int, if_version: int | None) -> Flow[Note]:
        """Restore a revision and return the note."""
        path = f"{_RESOURCE}/{note_id}/revisions/{number}/restore"
        return fetch(self.link, Call("PUT", path, body={}, headers=if_match(if_version)), Note)

    def _posted(self, path: str, body: Mapping[str, Any]) -> Flow[Note]:
        return fetch(self.link, Call("POST", path, body=body, headers=idempotency(str(uuid4()))), Note)


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def if_match(version: int | None) -> Headers:
    """Return the header that refuses a change unless the current version is this one."""
    return () if version is None else (("If-Match", f'"{version}"'),)


def document_in(local: Path) -> dict[str, Any]:
    """Return the document in a `.zpln` or `.ipynb` file.

    Raises `OSError` when it cannot be read, `Invalid` when it is not JSON.
    """
    try:
        document = json.loads(local.read_bytes())
    except ValueError as error:
        raise Invalid(f"{local} is not a note: it is not JSON ({error})", status=422) from error
    if not isinstance(document, dict):
        raise Invalid(f"{local} is not a note: it is not a JSON object", status=422)
    return document
