"""Searches the workspace by name, text and id: all that a caller would see who opened every folder."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from svc_jupyter.api.jupyter_contents import Contents
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.access.permissions import Action, Resource
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound
from svc_jupyter.service.schema.workspace import folders, note_texts
from svc_jupyter.service.workspace import contents_models as models
from svc_jupyter.service.workspace import folder_tree
from svc_jupyter.service.workspace.admission import admission, named
from svc_jupyter.service.workspace.contents_access import AdmittedPath
from svc_jupyter.service.workspace.contents_files import READ_LIMIT_BYTES, translated_errors
from svc_jupyter.service.workspace.contents_paths import MAX_DEPTH, NOTEBOOK_SUFFIX, ContentsPath, is_shown
from svc_jupyter.service.workspace.folder_tree import LocatedFolder
from svc_jupyter.service.workspace.notebook_documents import sources_of

FILES_FOUND_LIMIT: Final = 200
FILES_SEARCHED_LIMIT: Final = 50_000
SOURCES_LIMIT_BYTES: Final = 256 * 2**20
"""Measured: read, parsed and searched in a second and a half."""
_NOT_STORED = re.compile("[\0\ud800-\udfff]")
"""What databases refuse in a text: NUL, and halves of surrogate pairs."""


@dataclass(frozen=True, slots=True)
class SearchText:
    """A text to search for, in any case and in any of Unicode's forms."""

    text: str

    def is_in(self, name: str, object_id: int | None = None) -> bool:
        """Return whether a name contains it, or it is the id."""
        return folded(self.text) in folded(name) or (object_id is not None and self.text == str(object_id))

    def is_in_note(self, note_id: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
        """Return the condition that a note's paragraphs contain it."""
        contained = note_texts.c.text.contains(folded(self.text), autoescape=True)
        return sa.exists().where(note_texts.c.note_id == note_id, contained)


class FoundObject(NamedTuple):
    """A folder that was found, or a note or dashboard by its id and its folder."""

    folder: LocatedFolder
    object_id: int | None = None


def objects_below(
    connection: sa.Connection,
    starts: Collection[LocatedFolder],
    table: sa.Table,
    resource: Resource,
    text: SearchText,
    caller: Caller,
) -> Iterator[FoundObject]:
    """Yield the folders below some, then the notes or dashboards (`table`), that have a text and the caller may read.

    They have it in their name, or as their id; a note may have it in its paragraphs, too. The caller is one who may
    read the folders to start from.
    """
    ids = [start.id for start in starts]
    tree = folder_tree.subtree(folders.c.id.in_(named(ids)))
    children: dict[int, list[sa.Row[Any]]] = defaultdict(list)
    for row in connection.execute(sa.select(folders).join(tree, tree.c.id == folders.c.id).order_by(folders.c.name)):
        children[row.parent_id].append(row)
    readable = {folder.id: folder for folder in _readable(starts, children, caller)}
    for folder in readable.values():
        if folder.id not in ids and text.is_in(folder.row.name, folder.id):
            yield FoundObject(folder)
    has_text = text.is_in_note(table.c.id) if resource is Resource.NOTE else sa.false()
    query = sa.select(table.c.id, table.c.name, table.c.folder_id, has_text.label("has_text"))
    query = query.join(tree, tree.c.id == table.c.folder_id)
    for row in connection.execute(query.order_by(table.c.name, table.c.id)):
        place = readable.get(row.folder_id)
        if (
            place is not None
            and (row.has_text or text.is_in(row.name, row.id))
            and admission(caller, Action.READ, resource, place, row.id).allowed
        ):
            yield FoundObject(place, row.id)


def _readable(
    starts: Collection[LocatedFolder], children: Mapping[int, Sequence[sa.Row[Any]]], caller: Caller
) -> Iterator[LocatedFolder]:
    """Yield folders and those in them, without what is in one that the caller may not read."""
    waiting = deque(starts)
    while waiting:
        place = waiting.popleft()
        if admission(caller, Action.READ, Resource.FOLDER, place, place.id).allowed:
            yield place
            waiting += (
                LocatedFolder(row, place.path / row.name, (*place.ids, row.id), place.owner_id)
                for row in children.get(place.id, ())
            )


def files_below(starts: Mapping[AdmittedPath, frozenset[str]], text: SearchText) -> tuple[list[Contents], str | None]:
    """Return the files and folders below some that have a text, and what was left out, if anything was.

    They have it in their name; a notebook may have it in its cells, too. Those nearest to the start come first.
    `starts` has with each folder what below it is hidden from the caller, by relative path.
    """
    unread: list[ContentsPath] = []
    entries = _entries(starts, unread)
    sources = _Sources(unread)
    matching = (
        models.bare_model(place.path, status)
        for place, status in islice(entries, FILES_SEARCHED_LIMIT)
        if text.is_in(place.path.name) or text.is_in(sources.of(place, status))
    )
    found = list(islice(matching, FILES_FOUND_LIMIT))
    if next(entries, None) is not None:
        if len(found) == FILES_FOUND_LIMIT:
            return found, f"only the first {FILES_FOUND_LIMIT} are listed: search for a longer text, or in a folder"
        return found, f"only the first {FILES_SEARCHED_LIMIT} files and folders were searched: search in a folder"
    if sources.is_cut:
        return found, "some notebooks were searched by name only, as they are too large or too many: search in a folder"
    if unread:
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        return found, f"not searched, as the service may not read it: {unread[0]}{more}"
    return found, None


class _Sources:
    """The sources of notebooks, one after the other, of a limited number of bytes."""

    def __init__(self, unread: list[ContentsPath]) -> None:
        self._unread = unread
        self._bytes_left = SOURCES_LIMIT_BYTES
        self.is_cut = False
        """Whether there was a notebook beyond the limit, or one that is too large to be read."""

    def of(self, place: AdmittedPath, status: os.stat_result) -> str:
        """Return the sources of a notebook's cells. Of anything else, and beyond the limit, nothing."""
        if stat.S_ISDIR(status.st_mode) or not place.path.name.endswith(NOTEBOOK_SUFFIX):
            return ""
        data = b""
        try:
            with suppress(NotFound), translated_errors(place.path):  # gone by now
                data, _ = place.tree.read(place.parts, min(self._bytes_left, READ_LIMIT_BYTES))
        except Forbidden:
            self._unread.append(place.path)
        except Invalid:
            self.is_cut = True
        self._bytes_left -= len(data)
        return sources_of(data)


def _entries(
    starts: Mapping[AdmittedPath, frozenset[str]], unread: list[ContentsPath]
) -> Iterator[tuple[AdmittedPath, os.stat_result]]:
    """Yield what is below folders, level by level, and in a level by folder and name; add those that are closed."""
    waiting = deque((start, hidden, start) for start, hidden in starts.items())
    while waiting:
        start, hidden, folder = waiting.popleft()
        entries: Mapping[str, os.stat_result] = {}
        try:
            with translated_errors(folder.path), suppress(FileNotFoundError, NotADirectoryError):  # gone, or never used
                entries = folder.tree.entries(folder.parts)
        except Forbidden:
            unread.append(folder.path)
        for name, status in entries.items():
            place = folder / name
            if not is_shown(name) or "/".join(place.parts[len(start.parts) :]) in hidden:
                continue
            yield place, status
            if stat.S_ISDIR(status.st_mode) and len(place.path.parts) < MAX_DEPTH:
                waiting.append((start, hidden, place))


def folded(text: str) -> str:
    """Return a text as it is compared: the same in any case and in any of Unicode's forms. It can be stored."""
    return _NOT_STORED.sub("\ufffd", unicodedata.normalize("NFC", text.casefold()))
