"""Notes: Spark notebooks that the service stores as documents."""
# Made from asynchronous/notes.py by scripts/make_blocking_client.py: change it there.

from __future__ import annotations

from pathlib import Path
from typing import Any

from svc_jupyter.api.notes import Note, NoteDeleted, NoteList, NoteRevisionDocument, NoteRevisionList
from svc_jupyter.client.blocking.performing import Performer
from svc_jupyter.client.conversations.notes import NoteFlows, document_in


class Notes:
    """The account's notes, as `client.notes`. They are in folders (`client.folders`).

    `if_version` is the `version` that was read: `Conflict` is raised if the note has changed since.
    """

    def __init__(self, performer: Performer) -> None:
        self._performer = performer
        self._flows = NoteFlows(performer.link)

    def create(self, location: str, name: str, **fields: Any) -> Note:
        """Create a note in a folder, with `paragraphs`, `note_type`, `cluster_id`; `Invalid` for a taken name."""
        return self._performer.run(self._flows.create(location, name, fields))

    def get(self, note_id: int) -> Note:
        """Return a note with its document; raises `NotFound` for an unknown id."""
        return self._performer.run(self._flows.get(note_id))

    def list(self, *, page: int = 1, per_page: int = 10) -> NoteList:
        """Return one page of the notes that you may read, newest first, without their documents."""
        return self._performer.run(self._flows.page(page, per_page))

    def save(self, note: Note) -> Note:
        """Save a note that was read and changed locally; raises `Conflict` if it has changed on the service."""
        return self._performer.run(self._flows.save(note))

    def update(self, note_id: int, *, if_version: int | None = None, **fields: Any) -> Note:
        """Change the given attributes: `name`, `location` (moves it), `cluster_id` (0: none), `paragraphs`, …"""
        return self._performer.run(self._flows.update(note_id, fields, if_version))

    def clone(self, note_id: int, *, name: str | None = None, location: str | None = None) -> Note:
        """Create a copy, by default in the same folder under a free name."""
        return self._performer.run(self._flows.clone(note_id, name, location))

    def delete(self, note_id: int, *, if_version: int | None = None) -> NoteDeleted:
        """Delete a note and its dashboards; raises `Conflict` while it runs."""
        return self._performer.run(self._flows.delete(note_id, if_version))

    def import_document(self, document: dict[str, Any], *, name: str, location: str, **fields: Any) -> Note:
        """Create a note from the JSON of a `.zpln` or `.ipynb` file."""
        return self._performer.run(self._flows.import_document(document, name, location, fields))

    def import_file(self, local_path: str | Path, *, location: str, name: str | None = None, **fields: Any) -> Note:
        """Create a note from a local `.zpln` or `.ipynb` file, by default under the file's name.

        Raises `OSError` when it cannot be read, `Invalid` when it is not such a file.
        """
        local = Path(local_path)
        document = document_in(local)
        return self._performer.run(self._flows.import_document(document, name or local.stem, location, fields))

    def export(self, note_id: int, file_format: str = "zpln") -> bytes:
        """Return a note as a file: `zpln`, or `ipynb` for Jupyter. A later import is lossless."""
        return self._performer.run(self._flows.export(note_id, file_format))

    def revisions(self, note_id: int, *, page: int = 1, per_page: int = 10) -> NoteRevisionList:
        """Return one page of a note's revisions, newest first."""
        return self._performer.run(self._flows.revisions(note_id, page, per_page))

    def revision(self, note_id: int, number: int) -> NoteRevisionDocument:
        """Return a revision with its document."""
        return self._performer.run(self._flows.revision(note_id, number))

    def restore(self, note_id: int, number: int, *, if_version: int | None = None) -> Note:
        """Restore a note to a revision; the revisions in between are kept."""
        return self._performer.run(self._flows.restore(note_id, number, if_version))
