"""Reads contents: files, notebooks and folders."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from svc_jupyter.api.jupyter_contents import Contents, ContentsFormat, ContentsType
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.workspace import contents_models as models
from svc_jupyter.service.workspace.contents_failures import told
from svc_jupyter.service.workspace.contents_paths import ContentsPath, is_shown
from svc_jupyter.service.workspace.contents_places import Place

READ_LIMIT_BYTES = 64 * 2**20
"""Limit of a file that can be read: as JSON it takes a multiple of its size in memory."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested parts of a file or folder, as in Jupyter's own API."""

    type: ContentsType | None = None
    format: ContentsFormat | None = None
    content: bool = True
    hash: bool = False


def read(place: Place, wanted: Wanted) -> Contents:
    """Return the object at a place. Raises `Invalid` when it does not match the request, `OSError`, `TooLargeError`."""
    status = place.tree.status(place.parts)
    kind = models.type_of(place.path, status)
    check_type(place.path, kind, wanted.type)
    if kind == "directory":
        return _folder(place, content=wanted.content)
    kind = wanted.type or kind
    if not (wanted.content or wanted.hash):
        return models.bare_model(place.path, status, kind)
    data, status = place.tree.read(place.parts, READ_LIMIT_BYTES)
    model = models.bare_model(place.path, status, kind)
    if wanted.content and kind == "notebook":
        model = models.with_notebook(model, data)
    elif wanted.content:
        model = models.with_file(model, data, wanted.format)
    return models.with_hash(model, data) if wanted.hash else model


def _folder(place: Place, *, content: bool) -> Contents:
    model = model_of(place)
    if not content:
        return model
    entries = place.tree.entries(place.parts)
    children = [models.bare_model(place.path / name, status) for name, status in entries.items() if is_shown(name)]
    return models.with_children(model, children)


def check_type(path: ContentsPath, kind: ContentsType, wanted: ContentsType | None) -> None:
    """Raise `Invalid` unless the object can be read as requested: every file can be read as a file."""
    if wanted is None or wanted == kind or (kind == "notebook" and wanted == "file"):
        return
    raise Invalid(f"type: {str(path) or 'the empty path'} is a {kind}, not a {wanted}")


def model_of(place: Place) -> Contents:
    """Return the model, without content, of the object at a place."""
    return models.bare_model(place.path, status_of(place))


def status_of(place: Place) -> os.stat_result:
    """Return the file status at a place; raises `NotFound` if nothing is there."""
    with told(place.path):
        return place.tree.status(place.parts)


def require_folder(place: Place) -> None:
    """Raise `NotFound` if nothing is at a place, `Invalid` if it is a file."""
    if not stat.S_ISDIR(status_of(place).st_mode):
        raise Invalid(f"path: {place.path} is a file, not a folder")
