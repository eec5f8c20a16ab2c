"""Notebooks, files and folders as Jupyter Contents API models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from svc_jupyter.api.fields import Record, Request

ContentsType = Literal["directory", "file", "notebook"]
ContentsFormat = Literal["json", "text", "base64"]
PathText = Annotated[str, Field(max_length=4096)]
"""`/`-separated, from the roots: `Common/report.ipynb`, `Users/ann@example.org/work`."""


class Contents(Record):
    """A file, notebook or folder.

    `content` and `format` are null unless the content was asked for: a notebook's is its JSON (version 4), a folder's
    the models of what is in it, a file's its text, or base64 when it is not UTF-8. `size` is in bytes, null for a
    folder; `hash` is given where it was asked for; `message` says what of a notebook was repaired when it was saved or
    read, and what is wrong with one that can still be read, or what a search has left out.
    """

    name: str
    path: str
    type: ContentsType
    format: ContentsFormat | None = None
    content: Any = None
    created: str
    last_modified: str
    mimetype: str | None = None
    size: int | None = None
    writable: bool
    hash: str | None = None
    hash_algorithm: str | None = None
    message: str | None = None


class ContentsCreate(Request):
    """A new notebook, file or folder in a folder, or a copy of `copy_from`; without `name` a free one is chosen.

    Without `type` it is a notebook when the name or `ext` ends with `.ipynb`, else a file. `kernel` is the name of the
    kernel that a new notebook is for.
    """

    name: str | None = Field(default=None, min_length=1, max_length=255)
    type: ContentsType | None = None
    ext: str | None = Field(default=None, max_length=32)
    kernel: str | None = Field(default=None, min_length=1, max_length=255, pattern=r"^[A-Za-z0-9._-]+$")
    copy_from: PathText | None = None


class ContentsSave(Request):
    """What to store at a path. Without `content` it is made empty, where nothing is yet.

    `format` of a file's `content` is `text` (the default) or `base64`.
    """

    type: ContentsType | None = None
    format: ContentsFormat | None = None
    content: Any = None
    copy_from: PathText | None = None
    """Refused: a copy is made by POST."""
    chunk: int | None = None
    """Refused: an upload is one request."""


class ContentsMove(Request):
    """Where a file or folder is to lie."""

    path: PathText


class ContentsDeleted(Record):
    """The answer to a deletion."""

    status: str = "deleted"
    path: str
