"""Reads and writes contents: files, notebooks and folders.

A request is parsed and checked before anything on disk changes. Errors of the file system become errors for the caller.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from svc_jupyter.api.jupyter_contents import Contents, ContentsCreate, ContentsFormat, ContentsSave, ContentsType
from svc_jupyter.service.ground.errors import Forbidden, Invalid, NotFound, ServiceError, Unavailable
from svc_jupyter.service.workspace import contents_models as models
from svc_jupyter.service.workspace.contents_access import AdmittedPath
from svc_jupyter.service.workspace.contents_paths import NOTEBOOK_SUFFIX, ContentsPath, check_name, free_names, is_shown
from svc_jupyter.service.workspace.file_tree import TooLargeError
from svc_jupyter.service.workspace.notebook_documents import empty_notebook

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO})
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_OUT_OF_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DISTURBED = frozenset({errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.ENOLCK, errno.ETIMEDOUT})
READ_LIMIT_BYTES = 64 * 2**20
"""Limit of a file that can be read: as JSON it takes a multiple of its size in memory."""
_UNTITLED = {"notebook": "Untitled.ipynb", "file": "untitled", "directory": "Untitled Folder"}


@contextmanager
def translated_errors(path: ContentsPath) -> Iterator[None]:
    """Raise a file system error of a path as an error for the caller; an unexpected `OSError` is raised unchanged."""
    try:
        yield
    except OSError as error:
        failure = _failure(path, error)
        if failure is None:
            raise
        raise failure from error
    except TooLargeError as error:
        raise Invalid(f"{path} is too large to be read or copied at once: {error.size} bytes") from error


def _failure(path: ContentsPath, error: OSError) -> ServiceError | None:
    if error.errno in _ABSENT:
        return NotFound(f"there is no file or folder {path}")
    if error.errno == errno.EEXIST:
        return Invalid(f"{path} exists already; choose another name, or delete it first")
    if error.errno == errno.EISDIR:
        return Invalid(f"{path} is a folder")
    if error.errno == errno.ENAMETOOLONG:
        return Invalid(f"{path}: {error.strerror}")
    if error.errno in _REFUSED:
        return Forbidden(f"{path} cannot be changed: {error.strerror}; the owner of its file can allow it")
    if error.errno in _OUT_OF_ROOM:
        return Unavailable(f"{path} cannot be written: {error.strerror}; what was there is unchanged")
    if error.errno in _DISTURBED:
        return Unavailable(f"{path} cannot be reached just now: {error.strerror}")
    return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requested parts of a file or folder, as in Jupyter's own API."""

    type: ContentsType | None = None
    format: ContentsFormat | None = None
    content: bool = True
    hash: bool = False


def read(place: AdmittedPath, wanted: Wanted) -> Contents:
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


def _folder(place: AdmittedPath, *, content: bool) -> Contents:
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


def model_of(place: AdmittedPath) -> Contents:
    """Return the model, without content, of the object at a place."""
    return models.bare_model(place.path, status_of(place))


def status_of(place: AdmittedPath) -> os.stat_result:
    """Return the file status at a place; raises `NotFound` if nothing is there."""
    with translated_errors(place.path):
        return place.tree.status(place.parts)


def require_folder(place: AdmittedPath) -> None:
    """Raise `NotFound` if nothing is at a place, `Invalid` if it is a file."""
    if not stat.S_ISDIR(status_of(place).st_mode):
        raise Invalid(f"path: {place.path} is a file, not a folder")


def create(folder: AdmittedPath, request: ContentsCreate) -> str:
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
    with translated_errors(folder.path / wanted):
        return folder.tree.create(folder.parts, names, data)


def save(place: AdmittedPath, request: ContentsSave) -> str | None:
    """Store a notebook or file at a place, or create a folder there; an existing folder stays unchanged.

    Return what of a notebook was repaired.

    Raises `Invalid` for content that does not match its type, `OSError`.
    """
    kind = request.type or _type_named(place.path.name)
    if kind == "directory":
        if not _is_folder(place):
            place.tree.create(place.folder.parts, [place.path.name], None)
        return None
    is_named_so = _type_named(place.path.name) == "notebook"
    if kind == "notebook" and not is_named_so:
        raise Invalid(f"path: the name of a notebook must end with {NOTEBOOK_SUFFIX}")
    if request.content is None:
        place.tree.create(place.folder.parts, [place.path.name], empty_notebook(None) if is_named_so else b"")
        return None
    data, note = _data(kind, request, is_named_so=is_named_so)
    place.tree.save(place.parts, data)
    return note


def _data(kind: ContentsType, request: ContentsSave, *, is_named_so: bool) -> tuple[bytes, str | None]:
    if kind == "notebook":
        return models.bytes_of_notebook(request.content)
    data = models.bytes_of_file(request.content, request.format)
    return models.bytes_of_notebook_file(data) if is_named_so else (data, None)


def _type_named(name: str) -> ContentsType:
    return "notebook" if name.endswith(NOTEBOOK_SUFFIX) else "file"


def _is_folder(place: AdmittedPath) -> bool:
    try:
        return stat.S_ISDIR(place.tree.status(place.parts).st_mode)
    except FileNotFoundError:
        return False
