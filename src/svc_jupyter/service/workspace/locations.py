"""Locations of folders, notes and dashboards: parses and checks text; reads nothing.

They look like the paths of Jupyter contents and have the same roots. Names are case-sensitive, in Unicode's composed
form, so that no two look the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import count

from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.workspace.contents_paths import (
    COMMON,
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_NAME_BYTES,
    ContentsPath,
    check_name,
    parse_path,
    user_root,
)
from svc_jupyter.service.workspace.folder_tree import Extent

_COPY_MARK = re.compile(r"(?<=.)-Copy\d{1,9}\Z", re.DOTALL)


def location_of(text: str, field: str) -> ContentsPath:
    """Return the folder of a location. Raises `Invalid` and `NotFound` as `parse_path` does, naming `field`."""
    path = parse_path(text, field)
    if path.is_above_roots:
        return path
    root = ContentsPath((COMMON,)) if path.owner is None else user_root(path.owner)
    return ContentsPath((*root.parts, *(name_of(part, field) for part in path.inside)))


def name_of(text: str, field: str = "name") -> str:
    """Return a name as it is stored. Raises `Invalid`, naming `field`, for an invalid one."""
    name = unicodedata.normalize("NFC", text)
    check_name(name, field)
    return name


def require_room(path: ContentsPath, extent: Extent, field: str) -> None:
    """Raise `Invalid` when a folder and its subtree would be too deep for any location to name it."""
    if len(path.parts) + extent.levels > MAX_DEPTH:
        raise Invalid(f"{field}: {path} would reach deeper than {MAX_DEPTH} folders")
    if len(str(path)) + extent.characters > MAX_LENGTH:
        raise Invalid(f"{field}: locations in it would be longer than {MAX_LENGTH} characters")


def copy_names(name: str) -> Iterator[str]:
    """Yield the names for a copy: `report-Copy1`, `report-Copy2`, …; too long ones are shortened."""
    name = _COPY_MARK.sub("", name)
    for number in count(1):
        mark = f"-Copy{number}"
        stem = name.encode()[: MAX_NAME_BYTES - len(mark)].decode(errors="ignore")
        yield stem + mark
