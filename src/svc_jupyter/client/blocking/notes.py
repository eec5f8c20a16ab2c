"""Notes: Spark notebooks that the service stores as documents."""
# Made from asynchronous/notes.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from pathlib import Path
from typing import Any

from svc_jupyter.api import paths
from svc_jupyter.api.notes import Note, NoteDeleted, NoteList, NoteRevisionDocument, NoteRevisionList
from svc_jupyter.client.blocking.sender import Sender
from svc_jupyter.client.requests.notes import document_in
from svc_jupyter.client.transport.calls import Call, given
from svc_jupyter.client.transport.wire import idempotency, if_match

_RESOURCE = paths.api("notebooks")
_SAVED = ("name", "cluster_id", "paragraphs", "noteParams", "noteForms", "config", "info")


class Notes:
    """The account's notes, as `client.notes`. They are in folders (`client.folders`).

    `if_version` is the `version` that was read: `Conflict` is raised if the note has changed since.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, location: str, name: str, **fields: Any) -> Note:
        """Create a note in a folder, with `paragraphs`, `note_type`, `cluster_id`; `Invalid` for a taken name."""
        body = {"name": name, "location": location, **given(**fields)}
        return self._sender.fetch(Call("POST", _RESOURCE, body=body, headers=idempotency()), Note)

    def get(self, note_id: int) -> Note:
        """Return a note with its document; raises `NotFound` for an unknown id."""
        return self._sender.fetch(Call("GET", f"{_RESOURCE}/{note_id}"), Note)

    def list(self, *, page: int = 1, per_page: int = 10) -> NoteList:
        """Return one page of the notes that you may read, newest first, without their documents."""
        return self._sender.fetch(Call("GET", _RESOURCE, {"page": page, "per_page": per_page}), NoteList)

    def save(self, note: Note) -> Note:
        """Save a note that was read and changed locally; raises `Conflict` if it has changed on the service."""
        fields = {name: getattr(note, name) for name in _SAVED} | {"cluster_id": note.cluster_id or 0}
        return self.update(note.id, if_version=note.version, **fields)

    def update(self, note_id: int, *, if_version: int | None = None, **fields: Any) -> Note:
        """Change the given attributes: `name`, `location` (moves it), `cluster_id` (0: none), `paragraphs`, …"""
        call = Call("PUT", f"{_RESOURCE}/{note_id}", body=given(**fields), headers=if_match(if_version))
        return self._sender.fetch(call, Note)

    def clone(self, note_id: int, *, name: str | None = None, location: str | None = None) -> Note:
        """Create a copy, by default in the same folder under a free name."""
        body = given(name=name, location=location)
        return self._sender.fetch(Call("PUT", f"{_RESOURCE}/{note_id}/clone", body=body), Note)

    def delete(self, note_id: int, *, if_version: int | None = None) -> NoteDeleted:
        """Delete a note and its dashboards; raises `Conflict` while it runs."""
        call = Call("DELETE", f"{_RESOURCE}/{note_id}", headers=if_match(if_version))
        return self._sender.fetch(call, NoteDeleted)

    def import_document(self, document: dict[str, Any], *, name: str, location: str, **fields: Any) -> Note:
        """Create a note from the JSON of a `.zpln` or `.ipynb` file."""
        body = {**document, "name": name, "location": location, **given(**fields)}
        return self._sender.fetch(Call("POST", f"{_RESOURCE}/import", body=body, headers=idempotency()), Note)

    def import_file(self, local_path: str | Path, *, location: str, name: str | None = None, **fields: Any) -> Note:
        """Create a note from a local `.zpln` or `.ipynb` file, by default under the file's name.

        Raises `OSError` when it cannot be read, `Invalid` when it is not such a file.
        """
        local = Path(local_path)
        document = document_in(local)
        return self.import_document(document, name=name or local.stem, location=location, **fields)

    def export(self, note_id: int, file_format: str = "zpln") -> bytes:
        """Return a note as a file: `zpln`, or `ipynb` for Jupyter. A later import is lossless."""
        call = Call("GET", f"{_RESOURCE}/{note_id}/export", {"format": file_format}, accept="*/*")
        response = self._sender.send(call)
        return response.content

    def revisions(self, note_id: int, *, page: int = 1, per_page: int = 10) -> NoteRevisionList:
        """Return one page of a note's revisions, newest first."""
        call = Call("GET", f"{_RESOURCE}/{note_id}/revisions", {"page": page, "per_page": per_page})
        return self._sender.fetch(call, NoteRevisionList)

    def revision(self, note_id: int, number: int) -> NoteRevisionDocument:
        """Return a revision with its document."""
        return self._sender.fetch(Call("GET", f"{_RESOURCE}/{note_id}/revisions/{number}"), NoteRevisionDocument)

    def restore(self, note_id: int, number: int, *, if_version: int | None = None) -> Note:
        """Restore a note to a revision; the revisions in between are kept."""
        path = f"{_RESOURCE}/{note_id}/revisions/{number}/restore"
        return self._sender.fetch(Call("PUT", path, body={}, headers=if_match(if_version)), Note)
