"""Lists of folders with their notes or dashboards, by name, folders first; and the search for any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa

from svc_jupyter.api.folders import DASHBOARDS, NOTES, FolderContents
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, decision, require
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.access import users
from svc_jupyter.service.schema.workspace import dashboards, folders, notes
from svc_jupyter.service.workspace import folder_tree
from svc_jupyter.service.workspace.admission import admit, named, visible
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath, user_root
from svc_jupyter.service.workspace.folder_lookup import FolderLookup, missing, owner_of, require_open
from svc_jupyter.service.workspace.folder_tree import LocatedFolder, location_of
from svc_jupyter.service.workspace.records import (
    DASHBOARD_COLUMNS,
    NOTE_COLUMNS,
    dashboard_summary,
    folder_record,
    note_summary,
)
from svc_jupyter.service.workspace.searches import SearchText, objects_below

_OBJECTS: Final[dict[str, tuple[sa.Table, tuple[sa.Column[Any], ...], Resource]]] = {
    NOTES: (notes, NOTE_COLUMNS, Resource.NOTE),
    DASHBOARDS: (dashboards, DASHBOARD_COLUMNS, Resource.NOTEBOOK_DASHBOARD),
}


class FolderLists:
    """Lists folders for callers: in a few statements, however large they are. All methods block."""

    def __init__(self, places: FolderLookup) -> None:
        self._places = places

    def list(self, folder_type: str, location: str | None, page: Page, *, by: Caller) -> FolderContents:
        """Return a page of a folder's contents that the caller may read; without a location the roots.

        Raises `NotFound`, `Forbidden`, and `Invalid` for an invalid location or one of the other type.
        """
        path = location_of(location or "", "location")
        if path.is_above_roots:
            return self._roots(folder_type, path, page, by)
        with self._places.database.connect() as connection:
            place = self._place(connection, folder_type, path, by)
            if place is not None:
                return _contents(connection, place, page, by)
        with self._places.changing() as connection:  # a root that was never used
            return _contents(connection, self._places.at(connection, str(path), "location", folder_type, by), page, by)

    def search(
        self, folder_type: str, location: str | None, text: SearchText, page: Page, *, by: Caller
    ) -> FolderContents:
        """Return a page of what is below a folder, or below all roots, and has a text in its name, or as its id.

        A note may have it in its paragraphs, too. The contents are what the caller would see who opened all folders.
        Raises what `list` raises.
        """
        path = location_of(location or "", "location")
        with self._places.database.connect() as connection:
            if path.is_above_roots:
                require(by, Action.READ, Resource.FOLDER)
                starts = _all_roots(connection, folder_type, by, with_common=not path.parts)
            else:
                place = self._place(connection, folder_type, path, by)
                starts = [] if place is None else [place]
                for start in starts:
                    admit(by, Action.READ, Resource.FOLDER, start, start.id)
            table, columns, resource = _OBJECTS[folder_type]
            shown, paging_info = page.of(list(objects_below(connection, starts, table, resource, text, by)))
            ids = [one.object_id for one in shown if one.object_id is not None]
            rows = {row.id: row for row in connection.execute(sa.select(*columns).where(table.c.id.in_(named(ids))))}
        found = [folder_record(one.folder.row, one.folder.path) for one in shown if one.object_id is None]
        contents = FolderContents(folders=found, paging_info=paging_info)
        objects = [(rows[one.object_id], one.folder.path) for one in shown if one.object_id in rows]
        return _with_objects(contents, folder_type, objects)

    def _place(
        self, connection: sa.Connection, folder_type: str, path: ContentsPath, by: Caller
    ) -> LocatedFolder | None:
        """Return the folder at a path, None for a root that was never used. Raises `NotFound`, `Forbidden`."""
        owner_id = owner_of(connection, path, by)
        require_open(connection, path, owner_id, folder_type, by)
        place = folder_tree.find(connection, by.account_id, folder_type, path, owner_id)
        if place is None and path.inside:
            raise missing(connection, path, owner_id, "location", folder_type, by)
        return place

    def _roots(self, folder_type: str, path: ContentsPath, page: Page, by: Caller) -> FolderContents:
        require(by, Action.READ, Resource.FOLDER)
        with self._places.database.connect() as connection:
            shown, paging_info = page.cut(_owners(connection, page, by, with_common=not path.parts))
            owners = [owner_id for owner_id, _ in shown]
            known = folder_tree.roots(connection, by.account_id, folder_type, owners)
        if len(known) < len(owners):  # those that were never used
            with self._places.database.begin() as connection:
                folder_tree.ensure_roots(connection, by.account_id, folder_type, owners, self._places.clock())
                known = folder_tree.roots(connection, by.account_id, folder_type, owners)
        found = [folder_record(known[owner_id], root) for owner_id, root in shown]
        return FolderContents(folders=found, paging_info=paging_info)


def _contents(connection: sa.Connection, place: LocatedFolder, page: Page, by: Caller) -> FolderContents:
    admit(by, Action.READ, Resource.FOLDER, place, place.id)
    inside = sa.and_(folders.c.parent_id == place.id, visible(by, Resource.FOLDER, place, folders.c.id))
    # On later pages a count first checks for folders among them; mostly there is none.
    before = _count(connection, inside) if page.offset else 0
    found: Sequence[sa.Row[Any]] = ()
    if page.offset <= before:
        query = sa.select(folders).where(inside).order_by(folders.c.name)
        found = connection.execute(query.offset(page.offset).limit(page.fetch)).all()
    objects: Sequence[sa.Row[Any]] = ()
    if len(found) < page.fetch:
        objects = _objects(connection, place, max(page.offset - before, 0), page.fetch - len(found), by)
    shown, paging_info = page.cut([*found, *objects])
    contents = FolderContents(
        folders=[folder_record(row, place.path / row.name) for row in shown[: len(found)]], paging_info=paging_info
    )
    return _with_objects(contents, place.row.type, [(row, place.path) for row in shown[len(found) :]])


def _with_objects(
    contents: FolderContents, folder_type: str, objects: Sequence[tuple[sa.Row[Any], ContentsPath]]
) -> FolderContents:
    """Return the contents with notes or dashboards, each with the path of its folder."""
    if folder_type == NOTES:
        contents.notes = [note_summary(row, folder) for row, folder in objects]
    else:
        contents.notebook_dashboards = [dashboard_summary(row, folder) for row, folder in objects]
    return contents


def _count(connection: sa.Connection, inside: sa.ColumnElement[bool]) -> int:
    counted: int = connection.execute(sa.select(sa.func.count()).select_from(folders).where(inside)).scalar_one()
    return counted


def _objects(
    connection: sa.Connection, place: LocatedFolder, offset: int, limit: int, by: Caller
) -> Sequence[sa.Row[Any]]:
    """Return the notes or dashboards of a folder, none to a caller who may read none."""
    table, columns, resource = _OBJECTS[place.row.type]
    return connection.execute(
        sa.select(*columns)
        .where(table.c.folder_id == place.id, visible(by, resource, place, table.c.id))
        .order_by(table.c.name)
        .offset(offset)
        .limit(limit)
    ).all()


def _everybody(by: Caller) -> sa.Select[tuple[int, str]]:
    """Return the query for the users whose folders the caller sees, with their e-mail addresses."""
    everybody = sa.select(users.c.id, users.c.email).where(users.c.account_id == by.account_id)
    if not decision(by, Action.MANAGE, Resource.FOLDER).allowed:
        everybody = everybody.where(users.c.id == by.user_id)
    return everybody


def _all_roots(connection: sa.Connection, folder_type: str, by: Caller, *, with_common: bool) -> list[LocatedFolder]:
    """Return the roots that the caller sees, without those that were never used."""
    owners = {row.id: row.email for row in connection.execute(_everybody(by))}
    known = folder_tree.roots(connection, by.account_id, folder_type, [*([None] if with_common else []), *owners])
    return [
        LocatedFolder(row, ContentsPath((COMMON,)) if owner is None else user_root(owners[owner]), (row.id,), owner)
        for owner, row in known.items()
    ]


def _owners(
    connection: sa.Connection, page: Page, by: Caller, *, with_common: bool
) -> list[tuple[int | None, ContentsPath]]:
    """Return the owners of the roots on a page, and one more: None for `Common`, then the users by e-mail address."""
    everybody = _everybody(by)
    found: list[tuple[int | None, ContentsPath]] = []
    if with_common and page.offset == 0:
        found.append((None, ContentsPath((COMMON,))))
    rows = connection.execute(
        everybody.order_by(users.c.email).offset(max(page.offset - with_common, 0)).limit(page.fetch - len(found))
    )
    found += [(row.id, user_root(row.email)) for row in rows]
    return found
