"""Revisions of notes: lists, reads and restores them."""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa

from svc_jupyter.api.notes import NoteRevision, NoteRevisionList
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.workspace import note_revisions, notes
from svc_jupyter.service.workspace import note_store
from svc_jupyter.service.workspace.admission import admit
from svc_jupyter.service.workspace.folder_lookup import FolderLookup, of_object
from svc_jupyter.service.workspace.note_documents import Document, unpacked
from svc_jupyter.service.workspace.note_store import PackedDocument, require_match
from svc_jupyter.service.workspace.notes import ReadNote
from svc_jupyter.service.workspace.records import NOTE_COLUMNS, note_summary

_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    note_revisions.c.number,
    note_revisions.c.user_id,
    note_revisions.c.created_at,
    note_revisions.c.size,
)


class ReadRevision(NamedTuple):
    """A revision and its document."""

    revision: NoteRevision
    document: Document


class NoteHistory:
    """The former states of notes: every save that changes the document adds one; the newest hundred are kept."""

    def __init__(self, places: FolderLookup) -> None:
        self._places = places

    def list(self, note_id: int, page: Page, *, by: Caller) -> NoteRevisionList:
        """Return a page of a note's revisions, newest first. Raises `NotFound`, `Forbidden`."""
        with self._places.database.connect() as connection:
            _admitted(connection, note_id, Action.READ, by)
            shown, paging_info = page.read(
                connection,
                sa.select(*_COLUMNS)
                .where(note_revisions.c.note_id == note_id)
                .order_by(note_revisions.c.number.desc()),
            )
        return NoteRevisionList(revisions=[_record(row) for row in shown], paging_info=paging_info)

    def get(self, note_id: int, number: int, *, by: Caller) -> ReadRevision:
        """Return a revision with its document. Raises `NotFound`, `Forbidden`."""
        with self._places.database.connect() as connection:
            _admitted(connection, note_id, Action.READ, by)
            row = note_store.revision_row(connection, note_id, number)
        return ReadRevision(_record(row), unpacked(row.document))

    def restore(self, note_id: int, number: int, if_match: str | None, *, by: Caller) -> ReadNote:
        """Make a revision's document the note's newest one, and return it to a caller who may read it.

        Raises `NotFound`, `Forbidden`, and `StateConflict` when `if_match` names another version than the note's.
        """
        with self._places.database.begin() as connection:
            row = note_store.row_of(connection, note_id, Action.READ, by, lock=True)
            where = of_object(connection, by.account_id, row.folder_id)
            for action in (Action.READ, Action.UPDATE):
                admit(by, action, Resource.NOTE, where, note_id)
            require_match(if_match, row.version, f"note {note_id}", row.updated_at)
            former = note_store.revision_row(connection, note_id, number)
            data = PackedDocument.stored(former)
            if number != row.revision:
                trail.record(connection, by, "restore", Resource.NOTE, note_id, name=row.name, revision=number)
                now = self._places.clock()
                newest = row.revision + 1
                note_store.insert_revision(connection, note_id, newest, by.user_id, now, data)
                values = {"revision": newest, "version": row.version + 1, "updated_by": by.user_id, "updated_at": now}
                row = connection.execute(
                    sa.update(notes).where(notes.c.id == note_id).values(**values).returning(*NOTE_COLUMNS)
                ).one()
        return ReadNote(note_summary(row, where.path), data.document)


def _admitted(connection: sa.Connection, note_id: int, action: Action, caller: Caller) -> None:
    row = note_store.row_of(connection, note_id, action, caller)
    admit(caller, action, Resource.NOTE, of_object(connection, caller.account_id, row.folder_id), note_id)


def _record(row: sa.Row[Any]) -> NoteRevision:
    return NoteRevision(number=row.number, user_id=row.user_id, created_at=iso_time(row.created_at), size=row.size)
