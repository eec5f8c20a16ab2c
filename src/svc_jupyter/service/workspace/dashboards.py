"""Dashboards: a note as it was when published, for users who may not see the note."""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa

from svc_jupyter.api.dashboards import (
    DashboardClone,
    DashboardCreate,
    DashboardList,
    DashboardSummary,
    DashboardUpdate,
)
from svc_jupyter.api.folders import DASHBOARDS
from svc_jupyter.service.access import trail
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.workspace import dashboards
from svc_jupyter.service.workspace import folder_tree, note_store
from svc_jupyter.service.workspace.admission import absent, admission, admit, admit_into
from svc_jupyter.service.workspace.folder_lookup import FolderLookup, of_object
from svc_jupyter.service.workspace.folder_tree import LocatedFolder, free_copy_name, name_of, require_free
from svc_jupyter.service.workspace.note_documents import Document, packed, unpacked
from svc_jupyter.service.workspace.note_store import require_match
from svc_jupyter.service.workspace.records import DASHBOARD_COLUMNS, dashboard_summary

_WHAT = "dashboard"
_RESOURCE = Resource.NOTEBOOK_DASHBOARD


class ReadDashboard(NamedTuple):
    """A dashboard and its contents: the note's `paragraphs`, and the viewer's `config`."""

    summary: DashboardSummary
    document: Document


class Dashboards:
    """Publishes notes and stores the published versions.

    Every method raises `NotFound`, `Forbidden` with what is missing, and `Invalid` for impossible names and places. If
    `if_match` names another version, it raises `StateConflict` and nothing changes.
    """

    def __init__(self, places: FolderLookup) -> None:
        self._places = places

    def create(self, body: DashboardCreate, *, by: Caller) -> ReadDashboard:
        """Publish a note's current state, under a name in the folder at the given location."""
        name = name_of(body.name)
        with self._places.changing() as connection:
            where = self._places.at(connection, body.location, "location", DASHBOARDS, by)
            paragraphs, revision = self._published(connection, body.note_id, by)
            document = {"paragraphs": paragraphs, "config": body.config or {}}
            row = self._insert(connection, where, name, body.note_id, revision, document, by)
        return ReadDashboard(dashboard_summary(row, where.path), document)

    def get(self, dashboard_id: int, *, by: Caller) -> ReadDashboard:
        """Return a dashboard with its contents."""
        with self._places.database.connect() as connection:
            row, where = self._found(connection, dashboard_id, Action.READ, by)
        return ReadDashboard(dashboard_summary(row, where.path), unpacked(row.document))

    def of_note(self, note_id: int, page: Page, *, by: Caller) -> DashboardList:
        """Return a page of a note's dashboards that the caller may read, newest first."""
        with self._places.database.connect() as connection:
            note = note_store.row_of(connection, note_id, Action.READ, by)
            admit(by, Action.READ, Resource.NOTE, of_object(connection, by.account_id, note.folder_id), note_id)
            rows = connection.execute(
                sa.select(*DASHBOARD_COLUMNS).where(dashboards.c.note_id == note_id).order_by(dashboards.c.id.desc())
            ).all()
            places = folder_tree.places(connection, by.account_id, {row.folder_id for row in rows})
        readable = [row for row in rows if _may_read(by, places[row.folder_id], row.id)]
        shown, paging_info = page.of(readable)
        records = [dashboard_summary(row, places[row.folder_id].path) for row in shown]
        return DashboardList(notebook_dashboards=records, paging_info=paging_info)

    def update(
        self, dashboard_id: int, body: DashboardUpdate, if_match: str | None = None, *, by: Caller
    ) -> ReadDashboard:
        """Change the given attributes; with `refresh` copy the note's current state."""
        name = None if body.name is None else name_of(body.name)
        with self._places.changing() as connection:
            row, where = self._found(connection, dashboard_id, Action.READ, by, lock=True)  # the answer contains it
            admit(by, Action.UPDATE, _RESOURCE, where, dashboard_id)
            require_match(if_match, row.version, f"{_WHAT} {dashboard_id}", row.updated_at)
            target = self._target(connection, row, where, name or row.name, body.location, by)
            changes: dict[str, Any] = {"folder_id": target.id, "name": name or row.name}
            document = before = unpacked(row.document)
            if body.config is not None:
                document = {**document, "config": body.config}
            if body.refresh:
                paragraphs, changes["note_revision"] = self._published(connection, row.note_id, by)
                document = {**document, "paragraphs": paragraphs}
            changes = {column: value for column, value in changes.items() if value != row._mapping[column]}
            if document != before:
                changes["document"], _ = packed(document)
            if changes:
                row = self._set(connection, row, changes, by)
        return ReadDashboard(dashboard_summary(row, target.path), document)

    def clone(self, dashboard_id: int, body: DashboardClone, *, by: Caller) -> ReadDashboard:
        """Copy a dashboard, by default beside it under a free name, and return the copy."""
        wanted = None if body.name is None else name_of(body.name)
        with self._places.changing() as connection:
            row, where = self._found(connection, dashboard_id, Action.READ, by)
            if body.location is not None:
                where = self._places.at(connection, body.location, "location", DASHBOARDS, by)
            name = wanted or free_copy_name(connection, dashboards, where, row.name)
            document = unpacked(row.document)
            copy = self._insert(connection, where, name, row.note_id, row.note_revision, document, by)
        return ReadDashboard(dashboard_summary(copy, where.path), document)

    def delete(self, dashboard_id: int, if_match: str | None = None, *, by: Caller) -> None:
        """Delete a dashboard; its note stays."""
        with self._places.changing() as connection:
            row, _ = self._found(connection, dashboard_id, Action.DELETE, by, lock=True)
            require_match(if_match, row.version, f"{_WHAT} {dashboard_id}", row.updated_at)
            connection.execute(sa.delete(dashboards).where(dashboards.c.id == dashboard_id))
            trail.record(connection, by, "delete", _RESOURCE, dashboard_id, name=row.name)

    def _found(
        self, connection: sa.Connection, dashboard_id: int, action: Action, caller: Caller, *, lock: bool = False
    ) -> tuple[sa.Row[Any], LocatedFolder]:
        """Return a dashboard's row and its folder, if the caller may do `action` to it."""
        query = sa.select(dashboards).where(
            dashboards.c.id == dashboard_id, dashboards.c.account_id == caller.account_id
        )
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            raise absent(caller, action, _RESOURCE, dashboard_id)
        where = of_object(connection, caller.account_id, row.folder_id)
        admit(caller, action, _RESOURCE, where, dashboard_id)
        return row, where

    def _target(
        self,
        connection: sa.Connection,
        row: sa.Row[Any],
        where: LocatedFolder,
        name: str,
        location: str | None,
        by: Caller,
    ) -> LocatedFolder:
        """Return the target folder of a dashboard, once its name is free there."""
        target = where
        if location is not None:
            target = self._places.at(connection, location, "location", DASHBOARDS, by)
            if target.id != where.id:
                admit_into(by, target)
        if (target.id, name) != (where.id, row.name):
            require_free(connection, dashboards, target, name, _WHAT)
        return target

    def _insert(
        self,
        connection: sa.Connection,
        where: LocatedFolder,
        name: str,
        note_id: int,
        revision: int,
        document: Document,
        by: Caller,
    ) -> sa.Row[Any]:
        admit(by, Action.CREATE, _RESOURCE, where)
        require_free(connection, dashboards, where, name, _WHAT)
        data, _ = packed(document)
        now = self._places.clock()
        values = {
            "account_id": by.account_id,
            "folder_id": where.id,
            "name": name,
            "note_id": note_id,
            "note_revision": revision,
            "user_id": by.user_id,
            "created_at": now,
            "updated_by": by.user_id,
            "updated_at": now,
            "version": 1,
            "document": data,
        }
        row = connection.execute(sa.insert(dashboards).values(**values).returning(*DASHBOARD_COLUMNS)).one()
        trail.record(connection, by, "create", _RESOURCE, row.id, name=name, location=str(where.path), note_id=note_id)
        return row

    def _set(self, connection: sa.Connection, row: sa.Row[Any], changes: dict[str, Any], by: Caller) -> sa.Row[Any]:
        trail.record(connection, by, "update", _RESOURCE, row.id, name=row.name, changed=sorted(changes))
        edited = {"version": row.version + 1, "updated_by": by.user_id, "updated_at": self._places.clock()}
        return connection.execute(
            sa.update(dashboards)
            .where(dashboards.c.id == row.id)
            .values(**changes, **edited)
            .returning(*DASHBOARD_COLUMNS)
        ).one()

    @staticmethod
    def _published(connection: sa.Connection, note_id: int, caller: Caller) -> tuple[list[Any], int]:
        """Return a note's paragraphs and their revision, for a caller who may read the note."""
        row, data = note_store.row_with_document(connection, note_id, Action.READ, caller)
        where = of_object(connection, caller.account_id, row.folder_id)
        admit(caller, Action.READ, Resource.NOTE, where, note_id)
        return data.document["paragraphs"], row.revision


def _may_read(caller: Caller, where: LocatedFolder, dashboard_id: int) -> bool:
    return admission(caller, Action.READ, _RESOURCE, where, dashboard_id).allowed
