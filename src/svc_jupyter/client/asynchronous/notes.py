"""Notes: Spark notebooks that the service stores as documents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from svc_jupyter.api.notes import Note, NoteDeleted, NoteList, NoteRevisionDocument, NoteRevisionList
from svc_jupyter.client.asynchronous.performing import AsyncPerformer
from svc_jupyter.client.conversations.notes import NoteFlows, document_in


class AsyncNotes:
    """The account's notes, as `client.notes`. They are in folders (`client.folders`).

    `if_version` is the `version` that was read: `Conflict` is raised if the note has changed since.
    """

    def __init__(self, performer: AsyncPerformer) -> None:
        self._performer = performer
        self._flows = NoteFlows(performer.link)

    async def create(self, location: str, name: str, **fields: Any) -> Note:
        """Create a note in a folder, with `paragraphs`, `note_type`, `cluster_id`; `Invalid` for a taken name."""
        return await self._performer.run(self._flows.create(location, name, fields))

    async def get(self, note_id: int) -> Note:
        """Return a note with its document; raises `NotFound` for an unknown id."""
        return await self._performer.run(self._flows.get(note_id))

    async def list(self, *, page: int = 1, per_page: int = 10) -> NoteList:
        """Return one page of the notes that you may read, newest first, without their documents."""
        return await self._performer.run(self._flows.page(page, per_page))

    async def save(self, note: Note) -> Note:
        """Save a note that was read and changed locally; raises `Conflict` if it has changed on the service."""
        return await self._performer.run(self._flows.save(note))

    async def update(self, note_id: int, *, if_version: int | None = None, **fields: Any) -> Note:
        """Change the given attributes: `name`, `location` (moves it), `cluster_id` (0: none), `paragraphs`, …"""
        return await self._performer.run(self._flows.update(note_id, fields, if_version))

    async def clone(self, note_id: int, *, name: str | None = None, location: str | None = None) -> Note:
        """Create a copy, by default in the same folder under a free name."""
        return await self._performer.run(self._flows.clone(note_id, name, location))

    async def delete(self, note_id: int, *, if_version: int | None = None) -> NoteDeleted:
        """Delete a note and its dashboards; raises `Conflict` while it runs."""
        return await self._performer.run(self._flows.delete(note_id, if_version))

    async def import_document(self, document: dict[str, Any], *, name: str, location: str, **fields: Any) -> Note:
        """Create a note from the JSON of a `.zpln` or `.ipynb` file."""
        return await self._performer.run(self._flows.import_document(document, name, location, fields))

    async def import_file(
        self, local_path: str | Path, *, location: str, name: str | None = None, **fields: Any
    ) -> Note:
        """Create a note from a local `.zpln` or `.ipynb` file, by default under the file's name.

        Raises `OSError` when it cannot be read, `Invalid` when it is not such a file.
        """
        local = Path(local_path)
        document = await asyncio.to_thread(document_in, local)
        return await self._performer.run(self._flows.import_document(document, name or local.stem, location, fields))

    async def export(self, note_id: int, file_format: str = "zpln") -> bytes:
        """Return a note as a file: `zpln`, or `ipynb` for Jupyter. A later import is lossless."""
        return await self._performer.run(self._flows.export(note_id, file_format))

    async def revisions(self, note_id: int, *, page: int = 1, per_page: int = 10) -> NoteRevisionList:
        """Return one page of a note's revisions, newest first."""
        return await self._performer.run(self._flows.revisions(note_id, page, per_page))

    async def revision(self, note_id: int, number: int) -> NoteRevisionDocument:
        """Return a revision with its document."""
        return await self._performer.run(self._flows.revision(note_id, number))

    async def restore(self, note_id: int, number: int, *, if_version: int | None = None) -> Note:
        """Restore a note to a revision; the revisions in between are kept."""
        return await self._performer.run(self._flows.restore(note_id, number, if_version))
