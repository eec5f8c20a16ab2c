"""Find a folder or note by id, or by its location such as `Common/reports/late`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_jupyter.magics.arguments.options import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from svc_jupyter.api.folders import Folder
    from svc_jupyter.api.notes import NoteSummary
    from svc_jupyter.client import Client

_ROOTS = ("", "Users")


def split_location(path: str) -> tuple[str, str]:
    """Return the folder and the name of a location: `Common/reports` and `late` for `Common/reports/late`."""
    parent, _, name = path.strip("/").rpartition("/")
    return parent, name


def reference(text: str) -> str | int:
    """Return a folder reference for the client: digits are an id, anything else is a location."""
    return int(text) if is_id(text) else text.strip("/")


def is_id(text: str) -> bool:
    """Whether a word is an id. Locations are never digits alone: they begin with Common or Users."""
    return text.isascii() and text.isdigit()


def folder_at(client: Client, location: str, folder_type: str) -> Folder:
    """Return the folder at a location. Raises NotFound with the nearest sibling."""
    path = location.strip("/")
    parent, _ = split_location(path)
    siblings = client.folders.get(None if parent in _ROOTS else parent, folder_type=folder_type).folders
    found = next((folder for folder in siblings if folder.location == path), None)
    if found is None:
        raise _missing(f"folder {path} of {folder_type}", path, [folder.location for folder in siblings])
    return found


def note_called(client: Client, wanted: str) -> NoteSummary:
    """Return a note by id or location. Raises NotFound with the nearest sibling."""
    if is_id(wanted):
        return client.notes.get(int(wanted))
    parent, name = split_location(wanted)
    if not parent:
        raise _missing(f"note {wanted!r}: name it by its id or its location, such as Common/reports/{wanted}", "", [])
    siblings = client.folders.get(parent).notes
    found = next((note for note in siblings if note.name == name), None)
    if found is None:
        raise _missing(f"note {wanted}", name, [note.name for note in siblings])
    return found


def path_of(note: NoteSummary) -> str:
    """Return a note's location with its name."""
    return f"{note.location}/{note.name}"


def _missing(what: str, word: str, known: Sequence[str]) -> Exception:
    from svc_jupyter.client.errors import NotFound

    near = nearest(word, list(known))
    return NotFound(f"there is no {what}{f'.{near}' if near else ''}", status=404)
