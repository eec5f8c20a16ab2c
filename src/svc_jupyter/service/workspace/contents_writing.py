"""Writes contents: a request is parsed and checked before anything on disk changes."""

from __future__ import annotations

import stat
from collections.abc import Iterable

from svc_jupyter.api.jupyter_contents import ContentsCreate, ContentsSave, ContentsType
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.workspace import contents_models as models
from svc_jupyter.service.workspace.contents_failures import told
from svc_jupyter.service.workspace.contents_paths import NOTEBOOK_SUFFIX, check_name, free_names
from svc_jupyter.service.workspace.contents_places import Place
from svc_jupyter.service.workspace.notebook_documents import NotANotebookError, NotebookDocument, empty_notebook

_UNTITLED = {"notebook": "Untitled.ipynb", "file": "untitled", "directory": "Untitled Folder"}


def create(folder: Place, request: ContentsCreate) -> str:
    """Create a notebook, file or folder in a folder and return its name: the given one, or the next free one.

    Raises `Invalid` when the given name is taken.
    """
    suffix = f".{request.ext.lstrip('.')}" if request.ext else ""
    kind = request.type or _type_named(request.name or suffix)
    if request.kernel is not None and kind != "notebook":
        raise Invalid(f"kernel: only a notebook has a kernel, not a {kind}")
    data = {"notebook": empty_notebook(request.kernel), "file": b"", "directory": None}[kind]
    if request.name is None:
        wanted = _UNTITLED[kind] + (suffix if kind == "file" else "")
        check_name(wanted, "ext")
        names: Iterable[str] = free_names(wanted, " " if kind == "directory" else "")
    else:
        wanted = request.name
        if kind == "notebook" and not wanted.endswith(NOTEBOOK_SUFFIX):
            wanted += NOTEBOOK_SUFFIX
        names = [wanted]
    with told(folder.path / wanted):
        return folder.tree.create(folder.parts, names, data)


def save(place: Place, request: ContentsSave) -> None:
    """Store a notebook or file at a place, or create a folder there; an existing folder stays unchanged.

    Raises `Invalid` for content that does not match its type, `OSError`.
    """
    kind = request.type or _type_named(place.path.name)
    if kind == "directory":
        if not _is_folder(place):
            place.tree.create(place.folder.parts, [place.path.name], None)
        return
    is_named_so = _type_named(place.path.name) == "notebook"
    if kind == "notebook" and not is_named_so:
        raise Invalid(f"path: the name of a notebook must end with {NOTEBOOK_SUFFIX}")
    if request.content is None:
        place.tree.create(place.folder.parts, [place.path.name], empty_notebook(None) if is_named_so else b"")
        return
    data = _data(kind, request)
    if kind == "file" and is_named_so:
        _require_notebook(data)
    place.tree.save(place.parts, data)


def _data(kind: ContentsType, request: ContentsSave) -> bytes:
    if kind == "notebook":
        return models.bytes_of_notebook(request.content)
    return models.bytes_of_file(request.content, request.format)


def _require_notebook(data: bytes) -> None:
    """Raise `Invalid` unless a file stored under a notebook's name is a notebook."""
    with translated(NotANotebookError, to=Invalid, about="content: is not a notebook"):
        NotebookDocument.parse(data).require_valid()


def _type_named(name: str) -> ContentsType:
    return "notebook" if name.endswith(NOTEBOOK_SUFFIX) else "file"


def _is_folder(place: Place) -> bool:
    try:
        return stat.S_ISDIR(place.tree.status(place.parts).st_mode)
    except FileNotFoundError:
        return False
