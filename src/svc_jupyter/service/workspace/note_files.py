"""Notes as files: imports and exports `.zpln` and `.ipynb`. Functions of values."""

from __future__ import annotations

import json
from typing import Literal
from urllib.parse import quote

from svc_jupyter.api.notes import NoteImport, NoteReplacement
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.workspace.note_documents import OBJECTS, Document
from svc_jupyter.service.workspace.note_notebooks import note_of, notebook_of
from svc_jupyter.service.workspace.notes import ReadNote

FileFormat = Literal["zpln", "ipynb"]
MEDIA_TYPES: dict[FileFormat, str] = {"zpln": "application/json", "ipynb": "application/x-ipynb+json"}
_ATTRIBUTES = frozenset({"name", "location", "note_type", "cluster_id"})
"""Keys of an import request about the note itself; every other key is the document's."""
_ZPLN_VERSION = "0.12.0"


def imported(body: NoteImport | NoteReplacement) -> Document:
    """Return the document of an import. Raises `Invalid` when it has neither format."""
    keys = {key: value for key, value in body if key not in _ATTRIBUTES and value is not None}
    if "cells" in keys or "worksheets" in keys:
        if "paragraphs" in keys:
            raise Invalid("cells: give the paragraphs of a .zpln document or the cells of an .ipynb, not both")
        return note_of(keys)
    if "paragraphs" not in keys:
        raise Invalid("paragraphs: give the paragraphs of a .zpln document, or the cells of an .ipynb")
    return keys


def exported(note: ReadNote, file_format: FileFormat) -> bytes:
    """Return a note as a file."""
    content = notebook_of(note.document) if file_format == "ipynb" else _zpln(note)
    return (json.dumps(content, indent=1) + "\n").encode()


def disposition(note: ReadNote, file_format: FileFormat) -> str:
    """Return the header with which a browser saves the file under the note's name."""
    return f"attachment; filename*=UTF-8''{quote(f'{note.summary.name}.{file_format}', safe='')}"


def _zpln(note: ReadNote) -> Document:
    """Return the document with everything that readers of the format expect."""
    defaults: Document = {part: {} for part in OBJECTS}
    defaults |= {
        "id": str(note.summary.id),
        "defaultInterpreterGroup": note.summary.note_type,
        "version": _ZPLN_VERSION,
    }
    return {**defaults, **note.document, "name": note.summary.name}
