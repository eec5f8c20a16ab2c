"""Folders of notes and of dashboards: created, renamed, moved and deleted."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.folders import (
    NOTES,
    Folder,
    FolderChanged,
    FolderCounts,
    FolderCreate,
    FolderDeleted,
    FolderDeletion,
    FolderMove,
    FolderReference,
    FolderRename,
)
from svc_jupyter.api.object_policies import SourceType
from svc_jupyter.service.access import policy_versions, trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.ground.errors import Forbidden, Invalid
from svc_jupyter.service.schema.workspace import dashboards, folders, notes
from svc_jupyter.service.workspace import folder_tree
from svc_jupyter.service.workspace.admission import admit, admit_into, withheld
from svc_jupyter.service.workspace.contents_paths import ContentsPath
from svc_jupyter.service.workspace.folder_lookup import FolderLookup
from svc_jupyter.service.workspace.folder_tree import Extent, LocatedFolder, name_of, require_room
from svc_jupyter.service.workspace.note_store import require_none_running
from svc_jupyter.service.workspace.records import (
    folder_record,
)

_NOTHING_BELOW = Extent(0, 0)


class Folders:
    """Creates, renames, moves and deletes folders; each call is one transaction.

    Every method raises `NotFound` for a missing folder, `Forbidden` with what is missing, and `Invalid` for impossible
    names and places.
    """

    def __init__(self, places: FolderLookup) -> None:
        self._places = places

    def create(self, body: FolderCreate, *, by: Caller) -> Folder:
        """Create a folder in the one at the given location and return it."""
        with self._places.changing() as connection:
            parent = self._places.at(connection, body.location, "location", body.type, by)
            admit(by, Action.CREATE, Resource.FOLDER, parent)
            name = name_of(body.name)
            path = parent.path / name
            require_room(path, _NOTHING_BELOW, "location")
            _require_free(connection, parent.id, name, path)
            values = {"account_id": by.account_id, "type": body.type, "parent_id": parent.id, "name": name}
            row = connection.execute(
                sa.insert(folders)
                .values(user_id=by.user_id, created_at=self._places.clock(), **values)
                .returning(folders)
            ).one()
            trail.record(connection, by, "create", Resource.FOLDER, row.id, location=str(path), type=body.type)
        return folder_record(row, path)

    def rename(self, body: FolderRename, *, by: Caller) -> Folder:
        """Rename a folder in its place, and return it. A root keeps its name."""
        with self._places.changing() as connection:
            place = self._inner(connection, body, Action.UPDATE, by)
            name = name_of(body.name)
            path = place.path.parent / name
            if name != place.row.name:
                _require_free(connection, place.row.parent_id, name, path)
            row = _set(connection, place, path, "name", parent_id=place.row.parent_id, name=name)
            _record_move(connection, by, "rename", place, path)
        return folder_record(row, path)

    def move(self, body: FolderMove, *, by: Caller) -> FolderChanged:
        """Move a folder, with its contents, into the one at the destination; everything keeps its id.

        Raises `Invalid` when it would contain itself, when its name is taken there, and for a root. If it is already
        there, nothing changes.
        """
        field = "destination_location"
        with self._places.changing() as connection:
            place = self._inner(connection, body, Action.UPDATE, by)
            target = self._places.at(connection, body.destination_location, field, body.type, by)
            admit_into(by, target)
            if place.id in target.ids:
                raise Invalid(f"{field}: {place.path} cannot be moved into itself")
            path = target.path / place.row.name
            if target.id != place.row.parent_id:
                _require_free(connection, target.id, place.row.name, path, field)
            row = _set(connection, place, path, field, parent_id=target.id, name=place.row.name)
            _record_move(connection, by, "move", place, path)
        return FolderChanged(message=f"{place.path} is in {target.path} now", folder=folder_record(row, path))

    def delete(self, reference: FolderReference, *, by: Caller) -> FolderDeleted:
        """Delete a folder with its contents, and its notes with their dashboards; return the numbers of deleted
        objects.

        Raises `StateConflict` while a note in it is running, `Forbidden` when something in it may not be deleted.
        """
        with self._places.changing() as connection:
            place, tree, counts = self._deletable(connection, reference, by)
            policy_versions.forget(connection, SourceType.FOLDER, tree)
            gone = sa.select(notes.c.id).where(notes.c.folder_id.in_(tree))
            policy_versions.forget(connection, SourceType.NOTE, gone)
            connection.execute(sa.delete(folders).where(folders.c.id == place.id))
            went = counts.model_dump()
            trail.record(connection, by, "delete", Resource.FOLDER, place.id, location=str(place.path), deleted=went)
        return FolderDeleted(
            message=f"{place.path} was deleted: {_listed(counts)}",
            folder=folder_record(place.row, place.path),
            deleted=counts,
        )

    def deletion(self, reference: FolderReference, *, by: Caller) -> FolderDeletion:
        """Return what `delete` would delete now; changes nothing, and raises what `delete` would."""
        with self._places.changing() as connection:
            place, _, counts = self._deletable(connection, reference, by)
        return FolderDeletion(
            message=f"deleting {place.path} takes {_listed(counts)}",
            folder=folder_record(place.row, place.path),
            deletes=counts,
        )

    def _deletable(
        self, connection: sa.Connection, reference: FolderReference, by: Caller
    ) -> tuple[LocatedFolder, sa.Select[tuple[int]], FolderCounts]:
        """Return a folder that the caller may delete now, the ids of its subtree, and the numbers of its objects."""
        place = self._inner(connection, reference, Action.DELETE, by)
        tree = sa.select(folder_tree.subtree(folders.c.id == place.id).c.id)
        _require_deletable(connection, tree, by)
        if reference.type == NOTES:
            require_none_running(connection, by.account_id, notes.c.folder_id.in_(tree))
        return place, tree, _counts(connection, tree)

    def _inner(
        self, connection: sa.Connection, reference: FolderReference, action: Action, caller: Caller
    ) -> LocatedFolder:
        """Return the requested folder, which the caller may change and which is not a root."""
        place = self._places.meant(connection, reference, action, caller)
        admit(caller, action, Resource.FOLDER, place, place.id)
        if place.is_root:
            raise Invalid(f"location: {place.path} is a root folder, which cannot be renamed, moved or deleted")
        return place


def _require_free(
    connection: sa.Connection, parent_id: int, name: str, path: ContentsPath, field: str = "name"
) -> None:
    known = connection.execute(
        sa.select(folders.c.id).where(folders.c.parent_id == parent_id, folders.c.name == name)
    ).scalar()
    if known is not None:
        raise Invalid(f"{field}: there is a folder {path} already (folder {known})")


def _set(
    connection: sa.Connection, place: LocatedFolder, path: ContentsPath, field: str, *, parent_id: int, name: str
) -> sa.Row[Any]:
    """Store a folder's place and name, provided that locations can still name all of its contents."""
    require_room(path, folder_tree.extent(connection, place.id), field)
    return connection.execute(
        sa.update(folders).where(folders.c.id == place.id).values(parent_id=parent_id, name=name).returning(folders)
    ).one()


def _record_move(connection: sa.Connection, by: Caller, action: str, place: LocatedFolder, path: ContentsPath) -> None:
    if path != place.path:
        trail.record(connection, by, action, Resource.FOLDER, place.id, location=str(place.path), to=str(path))


def _require_deletable(connection: sa.Connection, tree: sa.Select[tuple[int]], caller: Caller) -> None:
    """Raise `Forbidden` for an object in a tree whose own policy denies its deletion to the caller."""
    for resource, table, inside in (
        (Resource.FOLDER, folders, folders.c.id.in_(tree)),
        (Resource.NOTE, notes, notes.c.folder_id.in_(tree)),
        (Resource.NOTEBOOK_DASHBOARD, dashboards, dashboards.c.folder_id.in_(tree)),
    ):
        kept = withheld(caller, Action.DELETE, resource, table.c.id)
        if kept is None:
            continue
        found = connection.execute(sa.select(table.c.id, table.c.name).where(kept, inside).limit(1)).one_or_none()
        if found is not None:
            raise Forbidden(
                f"{resource} {found.id} ({found.name}) is in it, and its policy denies you the permission to "
                f"{Action.DELETE} it"
            )


def _counts(connection: sa.Connection, tree: sa.Select[tuple[int]]) -> FolderCounts:
    went = sa.select(notes.c.id).where(notes.c.folder_id.in_(tree))
    of_notes = dashboards.c.note_id.in_(went)
    row = connection.execute(
        sa.select(
            sa.select(sa.func.count()).select_from(tree.subquery()).scalar_subquery(),
            sa.select(sa.func.count()).select_from(went.subquery()).scalar_subquery(),
            sa.select(sa.func.count())
            .select_from(dashboards)
            .where(dashboards.c.folder_id.in_(tree) | of_notes)
            .scalar_subquery(),
        )
    ).one()
    return FolderCounts(folders=row[0], notes=row[1], notebook_dashboards=row[2])


def _listed(counts: FolderCounts) -> str:
    parts = [(counts.folders, "folder"), (counts.notes, "note"), (counts.notebook_dashboards, "dashboard")]
    return ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in parts)
