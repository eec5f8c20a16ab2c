"""The notes of an account that a caller may read, newest first: in three statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from svc_jupyter.api.folders import NOTES
from svc_jupyter.api.notes import NoteList
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource, require
from svc_jupyter.service.http.paging import Page
from svc_jupyter.service.schema.workspace import COMMON_ROOT, folders, notes
from svc_jupyter.service.workspace import folder_tree
from svc_jupyter.service.workspace.admission import admission, named, said
from svc_jupyter.service.workspace.contents_paths import COMMON, ContentsPath
from svc_jupyter.service.workspace.records import NOTE_COLUMNS, note_summary


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
    rows = connection.execute(
        sa.select(*NOTE_COLUMNS)
        .where(notes.c.account_id == by.account_id, _readable(connection, by))
        .order_by(notes.c.id.desc())
        .offset(page.offset)
        .limit(page.fetch)
    ).all()
    shown, paging_info = page.cut(rows)
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
