"""The open branches of the trees: the items fetched of each folder, and their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from svc_jupyter.widgets.folders.items import Item, Key, items_of, trees

if TYPE_CHECKING:
    from svc_jupyter.client import Client

PAGE = 100
"""How many items of a folder are fetched at once."""


@dataclass(frozen=True)
class Branch:
    """The fetched items of an open folder; `next_page` is None after the last page."""

    items: tuple[Item, ...]
    next_page: int | None = None


class Line(StrEnum):
    """The meaning of a row for its item."""

    ITEM = "item"
    EMPTY = "empty"
    MORE = "more"


@dataclass(frozen=True)
class Row:
    """One row: an item, or below an open item that it is empty or that there is more. `depth` counts from 0."""

    line: Line
    item: Item
    depth: int
    is_open: bool = False


@dataclass(frozen=True)
class Branches:
    """The open branches, keyed by their folders. Immutable; the methods return a new value."""

    open: Mapping[Key, Branch]

    def with_branch(self, item: Item, branch: Branch) -> Branches:
        """Return the branches with one more open, or replaced."""
        return Branches({**self.open, item.key: branch})

    def closed(self, item: Item) -> Branches:
        """Return the branches without those of an item."""
        return Branches({key: branch for key, branch in self.open.items() if key != item.key})

    def rows(self) -> list[Row]:
        """Return the rows from top to bottom."""
        return [row for tree in trees() for row in self._rows(tree, 0)]

    def items(self) -> Iterator[Item]:
        """Yield all visible items."""
        return (row.item for row in self.rows() if row.line is Line.ITEM)

    def find(self, key: Key) -> Item | None:
        """Return the current state of an item, or None when it is not visible."""
        return next((item for item in self.items() if item.key == key), None)

    def at(self, folder_type: str, location: str) -> Item | None:
        """Return the folder at a location, or None when it is not visible."""
        places = (item for item in self.items() if item.is_place and item.folder_type == folder_type)
        return next((item for item in places if item.location == location), None)

    def _rows(self, item: Item, depth: int) -> Iterator[Row]:
        branch = self.open.get(item.key)
        yield Row(Line.ITEM, item, depth, is_open=branch is not None)
        if branch is None:
            return
        for child in branch.items:
            yield from self._rows(child, depth + 1)
        if branch.next_page is not None:
            yield Row(Line.MORE, item, depth + 1)
        elif not branch.items:
            yield Row(Line.EMPTY, item, depth + 1)


NOTHING_OPEN = Branches({})


def fetch_branch(client: Client, item: Item, page: int = 1) -> Branch:
    """Fetch a page of an item's contents. Raises the client's errors."""
    contents = client.folders.list(item.location or None, folder_type=item.folder_type, page=page, per_page=PAGE)
    return Branch(tuple(items_of(contents, item.folder_type)), contents.paging_info.next_page)


def fetch_more(client: Client, item: Item, branch: Branch) -> Branch:
    """Fetch the next page; items that moved between pages meanwhile are shown once."""
    if branch.next_page is None:
        return branch
    following = fetch_branch(client, item, branch.next_page)
    known = {one.key for one in branch.items}
    return replace(following, items=(*branch.items, *(one for one in following.items if one.key not in known)))


def fetch_again(client: Client, wanted: Collection[Key]) -> Branches:
    """Fetch all open branches again, from the top; deleted folders are skipped."""
    branches = NOTHING_OPEN
    waiting = [tree for tree in trees() if tree.key in wanted]
    while waiting:
        item = waiting.pop()
        branch = fetch_branch(client, item)
        branches = branches.with_branch(item, branch)
        waiting += [child for child in branch.items if child.opens and child.key in wanted]
    return branches


def fetch_way(client: Client, branches: Branches, folder_type: str, location: str) -> tuple[Branches, Item]:
    """Open the folders on the way to a location, and the folder itself; also return it. Raises the client's errors."""
    from svc_jupyter.client.errors import NotFound

    item = next(tree for tree in trees() if tree.folder_type == folder_type)
    while item.location != location:
        branch = branches.open.get(item.key) or fetch_branch(client, item)
        while (below := _towards(branch, location)) is None and branch.next_page is not None:
            branch = fetch_more(client, item, branch)
        branches = branches.with_branch(item, branch)
        if below is None:
            raise NotFound(f"there is no folder {location} of {folder_type}", status=404)
        item = below
    return branches.with_branch(item, fetch_branch(client, item)), item


def _towards(branch: Branch, location: str) -> Item | None:
    return next((item for item in branch.items if item.is_place and item.holds(location)), None)
