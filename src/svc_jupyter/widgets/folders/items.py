"""The items of a folder browser: the two trees, and the folders, notes and dashboards in them, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svc_jupyter.api.folders import Folder, FolderContents

FOLDER_TYPES = {"notes": "Notes", "notebook_dashboards": "Dashboards"}
"""The contract's types and the titles of their trees."""


class Kind(StrEnum):
    """The kind of an item."""

    TREE = "tree"
    FOLDER = "folder"
    NOTE = "note"
    DASHBOARD = "dashboard"


Key = tuple[str, Kind, int]
"""The folder type, the kind and the id: unchanged when the item is moved or renamed."""


@dataclass(frozen=True)
class Item:
    """One item. `location` is its own, `parent` that of its folder; both are empty for a tree."""

    kind: Kind
    folder_type: str
    id: int
    name: str
    location: str = ""
    parent: str = ""
    is_root: bool = False

    @property
    def key(self) -> Key:
        """The identity of the item."""
        return (self.folder_type, self.kind, self.id)

    @property
    def opens(self) -> bool:
        """Whether it can contain items."""
        return self.kind in (Kind.TREE, Kind.FOLDER)

    @property
    def is_place(self) -> bool:
        """Whether items can be moved into it."""
        return self.kind is Kind.FOLDER

    def holds(self, location: str) -> bool:
        """Whether a location is its own, or below it."""
        return self.kind is Kind.TREE or location == self.location or location.startswith(f"{self.location}/")


def trees() -> list[Item]:
    """Return the trees; their items are the roots."""
    return [Item(Kind.TREE, folder_type, 0, name) for folder_type, name in FOLDER_TYPES.items()]


def folder_item(folder: Folder) -> Item:
    """Return the item of a folder's record; a root has no parent and its name is its location."""
    is_root = folder.parent_id is None
    parent = "" if is_root else folder.location.rpartition("/")[0]
    name = folder.location if is_root else folder.name
    return Item(Kind.FOLDER, folder.type, folder.id, name, folder.location, parent, is_root)


def items_of(contents: FolderContents, folder_type: str) -> list[Item]:
    """Return the items of one page of a folder, in the service's order."""
    found = [folder_item(folder) for folder in contents.folders]
    for kind, objects in ((Kind.NOTE, contents.notes), (Kind.DASHBOARD, contents.notebook_dashboards)):
        found += [
            Item(kind, folder_type, one.id, one.name, f"{one.location}/{one.name}", one.location) for one in objects
        ]
    return found
