"""Files and folders as Jupyter Contents API models: functions of file status and content."""

from __future__ import annotations

import binascii
import hashlib
import json
import mimetypes
import os
import re
import stat
from base64 import b64decode, b64encode
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from svc_jupyter.api.jupyter_contents import Contents, ContentsFormat, ContentsType
from svc_jupyter.service.ground.clock import iso_time
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.workspace.contents_paths import NOTEBOOK_SUFFIX, ContentsPath
from svc_jupyter.service.workspace.file_tree import is_writable
from svc_jupyter.service.workspace.notebook_documents import NotANotebookError, NotebookDocument

_HASH = "sha256"


def type_of(path: ContentsPath, status: os.stat_result) -> ContentsType:
    """Return the type of a file or folder, unless the caller requests another one."""
    if stat.S_ISDIR(status.st_mode):
        return "directory"
    return "notebook" if path.name.endswith(NOTEBOOK_SUFFIX) else "file"


def bare_model(path: ContentsPath, status: os.stat_result, contents_type: ContentsType | None = None) -> Contents:
    """Return the model without content. `created` is the system's best value: on Linux the time of the last change."""
    kind = contents_type or type_of(path, status)
    created: float = getattr(status, "st_birthtime", status.st_ctime)
    return Contents(
        name=path.name,
        path=str(path),
        type=kind,
        created=timestamp(min(created, status.st_mtime)),
        last_modified=timestamp(status.st_mtime),
        mimetype=mimetypes.guess_type(path.name)[0] if kind == "file" else None,
        size=None if kind == "directory" else status.st_size,
        writable=is_writable(status),
    )


def virtual_folder(path: ContentsPath, seconds: float, *, writable: bool) -> Contents:
    """Return the model of a folder that is not a single folder on disk, or not yet there, as of a time."""
    moment = timestamp(seconds)
    return Contents(
        name=path.name, path=str(path), type="directory", created=moment, last_modified=moment, writable=writable
    )


def with_children(model: Contents, children: list[Contents]) -> Contents:
    """Return a folder's model with the models of its children."""
    return model.model_copy(update={"format": "json", "content": children})


def with_notebook(model: Contents, data: bytes) -> Contents:
    """Return a notebook's model with its JSON. Raises `Invalid` when it is not a notebook."""
    try:
        document = NotebookDocument.parse(data)
    except NotANotebookError as error:
        raise Invalid(f"{model.path} is not a notebook: {error}; type=file reads it as it is") from error
    return model.model_copy(update={"format": "json", "content": document.content, "message": document.note})


def with_file(model: Contents, data: bytes, wanted: ContentsFormat | None) -> Contents:
    """Return a file's model with its text, or base64 if that is requested or the file is not UTF-8."""
    content: str | None = None
    if wanted != "base64":
        try:
            content = data.decode()
        except UnicodeDecodeError as error:
            if wanted == "text":
                raise Invalid(f"format: {model.path} is not UTF-8 text; ask for base64") from error
    written: ContentsFormat = "base64" if content is None else "text"
    default = "application/octet-stream" if content is None else "text/plain"
    return model.model_copy(
        update={
            "format": written,
            "content": b64encode(data).decode() if content is None else content,
            "mimetype": model.mimetype or default,
        }
    )


def with_hash(model: Contents, data: bytes) -> Contents:
    """Return the model with the hash of a file's bytes."""
    digest = hashlib.new(_HASH, data, usedforsecurity=False).hexdigest()
    return model.model_copy(update={"hash": digest, "hash_algorithm": _HASH})


def bytes_of_file(content: Any, contents_format: ContentsFormat | None) -> bytes:
    """Return the bytes of a request's `content` and `format`."""
    if contents_format == "json":
        raise Invalid("format: a file's content is text or base64; json is for notebooks")
    if not isinstance(content, str):
        raise Invalid("content: must be a string, the file's text or its base64")
    try:
        if contents_format == "base64":
            return b64decode(re.sub(r"\s+", "", content), validate=True)
        return content.encode()
    except UnicodeEncodeError as error:
        raise Invalid("content: holds half of a character pair, which UTF-8 cannot write") from error
    except (binascii.Error, ValueError) as error:
        raise Invalid("content: is not valid base64") from error


def bytes_of_notebook(content: Any) -> tuple[bytes, str | None]:
    """Return the JSON of a notebook to store, and what of it was repaired. Raises `Invalid` if it is not a notebook."""
    with translated(NotANotebookError, to=Invalid, about="content: is not a notebook"):
        document = NotebookDocument.of(content)
        document.require_valid()
    return document.serialised(), document.note


def bytes_of_notebook_file(data: bytes) -> tuple[bytes, str | None]:
    """Return a notebook's file to store, the same bytes unless something was repaired, and what that was.

    Raises `Invalid` if it is not a notebook.
    """
    with translated(NotANotebookError, to=Invalid, about="content: is not a notebook"):
        document = NotebookDocument.parse(data)
        document.require_valid()
    return (document.serialised() if document.repairs else data), document.note


def as_json(model: Contents) -> bytes:
    """Return a model as JSON, whatever a notebook contains."""
    try:
        return to_json(model, inf_nan_mode="null")
    except PydanticSerializationError:  # a lone surrogate, or nested deeper than that writer supports
        return json.dumps(model.model_dump()).encode()


def timestamp(seconds: float) -> str:
    """Return a file's time in ISO 8601, UTC; the epoch for one beyond the calendar."""
    try:
        return iso_time(seconds, "microseconds")
    except (OSError, OverflowError, ValueError):
        return iso_time(0, "microseconds")
