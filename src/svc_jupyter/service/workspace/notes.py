"""Notes: Spark notebooks as documents. Commands run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from svc_jupyter.api.folders import NOTES
from svc_jupyter.api.notes import NoteClone, NoteCreate, NoteDeleted, NoteImport, NoteList, NoteSummary, NoteUpdate
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.ground.errors import StateConflict
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.workspace import COMMON_ROOT, dashboards, folders, notes
from svc_jupyter.service.workspace import folder_tree, note_store
from svc_jupyter.service.workspace.admission import admission, admit, admit_into, named, said
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath
from svc_jupyter.service.workspace.folder_lookup import FolderLookup, of_object
from svc_jupyter.service.workspace.folder_tree import LocatedFolder, free_copy_name, name_of, require_free
from svc_jupyter.service.workspace.note_documents import Document, checked, given_parts
from svc_jupyter.service.workspace.note_store import PackedDocument, require_match, require_none_running
from svc_jupyter.service.workspace.records import NOTE_COLUMNS, note_summary

_ATTEMPTS = 10


class ReadNote(NamedTuple):
    """A note and its document, read at one moment."""

    summary: NoteSummary
    document: Document


class Notes:
    """Creates, reads, saves, moves, copies and deletes notes.

    Every method raises `NotFound` for a missing note or folder, `Forbidden` with what is missing, and `Invalid` for
    impossible names, places and documents. If `if_match` names another version than the note's, it raises
    `StateConflict` and nothing changes.
    """

    def __init__(self, places: FolderLookup) -> None:
        self._places = places

    def create(self, body: NoteCreate, *, by: Caller) -> ReadNote:
        """Create a note in the folder at the given location and return it."""
        return self.store(body, given_parts(body), by=by)

    def store(self, about: NoteCreate | NoteImport, document: Document, *, by: Caller) -> ReadNote:
        """Create a note from an existing document and return it."""
        name = name_of(about.name)
        document = checked(document)
        data = PackedDocument.of(document)
        with self._places.changing() as connection:
            where = self._places.at(connection, about.location, "location", NOTES, by)
            row = self._insert(connection, where, name, about.note_type, about.cluster_id, data, by)
        return ReadNote(note_summary(row, where.path), document)

    def get(self, note_id: int, *, by: Caller) -> ReadNote:
        """Return a note with its document."""
        with self._places.database.connect() as connection:
            row, data = note_store.row_with_document(connection, note_id, Action.READ, by)
            where = of_object(connection, by.account_id, row.folder_id)
        admit(by, Action.READ, Resource.NOTE, where, note_id)
        return ReadNote(note_summary(row, where.path), data.document)

    def list(self, page: Page, *, by: Caller) -> NoteList:
        """Return a page of the account's notes that the caller may read, newest first, without their documents."""
        with self._places.database.connect() as connection:
            return readable_notes(connection, page, by)

    def update(self, note_id: int, body: NoteUpdate, if_match: str | None = None, *, by: Caller) -> ReadNote:
        """Change the given attributes and parts of the document, and return the note; a request without a change is no
        edit.

        Without `if_match` the last save wins, part by part.
        """
        given = given_parts(body)
        return self._changed(note_id, body, lambda before: before | given if given else before, if_match, by)

    def replace_document(
        self, note_id: int, document: Callable[[], Document], if_match: str | None = None, *, by: Caller
    ) -> ReadNote:
        """Replace a note's document, as an edit, and return the note.

        `document` is called once the caller may read the note, so that its errors are not revealed to others.
        """
        return self._changed(note_id, NoteUpdate(), lambda _before: document(), if_match, by)

    def _changed(
        self,
        note_id: int,
        body: NoteUpdate,
        change: Callable[[Document], Document],
        if_match: str | None,
        by: Caller,
    ) -> ReadNote:
        for _ in range(_ATTEMPTS):
            # The document is read, checked and packed before the transaction, which blocks others.
            before = self.get(note_id, by=by)
            wanted = change(before.document)
            document = before.document if wanted is before.document else checked(wanted)
            data = PackedDocument.of(document) if document != before.document else None
            saved = self._save(note_id, body, data, before.summary.version, if_match, by)
            if saved is not None:
                return ReadNote(saved, document)
        raise StateConflict(f"note {note_id} is being changed all the time; try again in a moment")

    def keep_results(self, note_id: int, change: Callable[[Document], Document], *, by: Caller) -> None:
        """Store a run's results in a note's document. This is not an edit: version and revision stay.

        Concurrent saves wait. Raises `Forbidden` for a caller who may not change the note.
        """
        with self._places.database.begin() as connection:
            row = note_store.row_of(connection, note_id, Action.UPDATE, by, lock=True)
            admit(by, Action.UPDATE, Resource.NOTE, of_object(connection, by.account_id, row.folder_id), note_id)
            row, data = note_store.row_with_document(connection, note_id, Action.UPDATE, by)
            document = checked(change(data.document))
            note_store.replace_revision(connection, note_id, row.revision, PackedDocument.of(document))

    def require_all(self, note_id: int, action: Action, callers: Sequence[Caller]) -> None:
        """Raise unless all the callers may do `action` to a note."""
        with self._places.database.connect() as connection:
            for caller in callers:
                row = note_store.row_of(connection, note_id, action, caller)
                admit(caller, action, Resource.NOTE, of_object(connection, caller.account_id, row.folder_id), note_id)

    def clone(self, note_id: int, body: NoteClone, *, by: Caller) -> ReadNote:
        """Copy a note, by default beside it under a free name, and return the copy, which has no former revisions."""
        wanted = None if body.name is None else name_of(body.name)
        with self._places.changing() as connection:
            row, data = note_store.row_with_document(connection, note_id, Action.READ, by)
            source = of_object(connection, by.account_id, row.folder_id)
            admit(by, Action.READ, Resource.NOTE, source, note_id)
            where = source
            if body.location is not None:
                where = self._places.at(connection, body.location, "location", NOTES, by)
            name = wanted or free_copy_name(connection, notes, where, row.name)
            cluster_id = row.cluster_id if body.cluster_id is None else body.cluster_id
            copy = self._insert(connection, where, name, row.note_type, cluster_id, data, by)
        return ReadNote(note_summary(copy, where.path), data.document)

    def delete(self, note_id: int, if_match: str | None = None, *, by: Caller) -> NoteDeleted:
        """Delete a note with its revisions and its dashboards. Raises `StateConflict` while it is running."""
        with self._places.changing() as connection:
            row = note_store.row_of(connection, note_id, Action.DELETE, by, lock=True)
            admit(by, Action.DELETE, Resource.NOTE, of_object(connection, by.account_id, row.folder_id), note_id)
            require_match(if_match, row.version, f"note {note_id}", row.updated_at)
            require_none_running(connection, by.account_id, notes.c.id == note_id)
            shown = sa.select(sa.func.count()).select_from(dashboards).where(dashboards.c.note_id == note_id)
            count = connection.execute(shown).scalar_one()
            policy_versions.forget(connection, SourceType.NOTE, [note_id])
            connection.execute(sa.delete(notes).where(notes.c.id == note_id))
            trail.record(connection, by, "delete", Resource.NOTE, note_id, name=row.name)
        return NoteDeleted(id=note_id, notebook_dashboards=count)

    def _insert(
        self,
        connection: sa.Connection,
        where: LocatedFolder,
        name: str,
        note_type: str,
        cluster_id: int | None,
        document: PackedDocument,
        by: Caller,
    ) -> sa.Row[Any]:
        admit(by, Action.CREATE, Resource.NOTE, where)
        require_free(connection, notes, where, name, "note")
        values = {
            "account_id": by.account_id,
            "folder_id": where.id,
            "name": name,
            "note_type": note_type,
            "cluster_id": cluster_id or None,
            "user_id": by.user_id,
            "created_at": self._places.clock(),
        }
        row = note_store.insert(connection, values, document)
        trail.record(connection, by, "create", Resource.NOTE, row.id, name=name, location=str(where.path))
        return row

    def _save(
        self,
        note_id: int,
        body: NoteUpdate,
        document: PackedDocument | None,
        version: int,
        if_match: str | None,
        by: Caller,
    ) -> NoteSummary | None:
        """Store an edit based on `version`; return None, without a change, when the note's version has changed."""
        moves = body.name is not None or body.location is not None
        with self._places.changing() if moves else self._places.database.begin() as connection:
            row = note_store.row_of(connection, note_id, Action.UPDATE, by, lock=True)
            where = of_object(connection, by.account_id, row.folder_id)
            admit(by, Action.UPDATE, Resource.NOTE, where, note_id)
            require_match(if_match, row.version, f"note {note_id}", row.updated_at)
            if row.version != version:
                return None
            target = self._target(connection, row, where, body, by)
            values = _changes(row, target, body)
            now = self._places.clock()
            if document is not None:
                values["revision"] = row.revision + 1
                note_store.insert_revision(connection, note_id, row.revision + 1, by.user_id, now, document)
            if values:
                trail.record(connection, by, "update", Resource.NOTE, note_id, name=row.name, changed=sorted(values))
                values |= {"version": version + 1, "updated_by": by.user_id, "updated_at": now}
                row = connection.execute(
                    sa.update(notes).where(notes.c.id == note_id).values(**values).returning(*NOTE_COLUMNS)
                ).one()
        return note_summary(row, target.path)

    def _target(
        self, connection: sa.Connection, row: sa.Row[Any], where: LocatedFolder, body: NoteUpdate, by: Caller
    ) -> LocatedFolder:
        """Return the target folder of a note, once its name is free there."""
        name = row.name if body.name is None else name_of(body.name)
        target = where
        if body.location is not None:
            target = self._places.at(connection, body.location, "location", NOTES, by)
            if target.id != where.id:
                admit_into(by, target)
        if (target.id, name) != (where.id, row.name):
            require_free(connection, notes, target, name, "note")
        return target


def _changes(row: sa.Row[Any], target: LocatedFolder, body: NoteUpdate) -> dict[str, Any]:
    """Return the columns, apart from the document's, that a request changes."""
    wanted: dict[str, Any] = {"folder_id": target.id}
    if body.name is not None:
        wanted["name"] = name_of(body.name)
    if body.cluster_id is not None:
        wanted["cluster_id"] = body.cluster_id or None
    return {column: value for column, value in wanted.items() if value != row._mapping[column]}


@dataclass(frozen=True, slots=True)
class _Way:
    """A folder with the fields that admission needs."""

    ids: tuple[int, ...]
    owner_id: int | None

    @property
    def path(self) -> ContentsPath:
        """For errors only; a list never shows what it omits."""
        return ContentsPath((COMMON,))


def readable_notes(connection: sa.Connection, page: Page, by: Caller) -> NoteList:
    """Return a page of the notes that the caller may read. Raises `Forbidden` for a caller who may read none."""
    shown, paging_info = page.read(
        connection,
        sa.select(*NOTE_COLUMNS)
        .where(notes.c.account_id == by.account_id, _readable(connection, by))
        .order_by(notes.c.id.desc()),
    )
    places = folder_tree.places(connection, by.account_id, {row.folder_id for row in shown})
    return NoteList(notes=[note_summary(row, places[row.folder_id].path) for row in shown], paging_info=paging_info)


def _readable(connection: sa.Connection, by: Caller) -> sa.ColumnElement[bool]:
    """Return the condition for notes that the caller may read: by the note's policy, or else by its folder."""
    if by.is_admin:
        return sa.true()
    inside = [
        way.ids[-1]
        for way in _ways(connection, by.account_id)
        if admission(by, Action.READ, Resource.NOTE, way, None).allowed
    ]
    by_policy = dict(said(by, Action.READ, Resource.NOTE))
    allowed = [note_id for note_id, is_allowed in by_policy.items() if is_allowed]
    if not inside and not allowed:
        require(by, Action.READ, Resource.NOTE)
    by_folder = notes.c.folder_id.in_(named(inside)) & notes.c.id.not_in(named(list(by_policy)))
    return by_folder | notes.c.id.in_(named(allowed))


def _ways(connection: sa.Connection, account_id: int) -> list[_Way]:
    """Return the account's folders of notes, each with its ancestors."""
    rows = connection.execute(
        sa.select(folders.c.id, folders.c.parent_id, folders.c.root_of).where(
            folders.c.account_id == account_id, folders.c.type == NOTES
        )
    ).all()
    below: dict[int | None, list[Any]] = {}
    for row in rows:
        below.setdefault(row.parent_id, []).append(row)
    found = [_Way((root.id,), None if root.root_of == COMMON_ROOT else root.root_of) for root in below.get(None, ())]
    for way in found:  # grows meanwhile
        found += [_Way((*way.ids, row.id), way.owner_id) for row in below.get(way.ids[-1], ())]
    return found
