"""Notes as files: imports and exports `.zpln` and `.ipynb`, without loss. Functions of values.

What one format has and the other lacks is stored in a place that the other preserves: a paragraph's own attributes in
the cell's metadata under `svc_note`, a cell's own in the paragraph under `ipynb`. Only what the cell or paragraph
itself does not express is stored there; after an edit elsewhere the cell takes precedence.

A paragraph's results are `{"code": "SUCCESS", "msg": [{"type": "TEXT"|"HTML"|"TABLE"…, "data": text}, …]}`; a TABLE is
tab-separated with a row of headers.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from svc_jupyter.api.notes import NoteImport, NoteReplacement
from svc_jupyter.forms.placeholders import placeholders
from svc_jupyter.service.ground.errors import Invalid, translated
from svc_jupyter.service.workspace.note_documents import OBJECTS, Document
from svc_jupyter.service.workspace.notebook_documents import NotANotebookError, NotebookDocument
from svc_jupyter.service.workspace.notebook_repair import number_cells
from svc_jupyter.service.workspace.notes import ReadNote

KEY = "svc_note"
"""The metadata key of notebooks, cells and outputs for what only a note has."""
_SUCCESS, _ERROR = "SUCCESS", "ERROR"
_MESSAGE = {"type", "data"}
_RESULTS = {"code", "msg"}
_LEFT = "ipynb"
"""The key of a note for what only a notebook has."""
_FORMAT, _MINOR = 4, 5
_MARKDOWN = re.compile(r"\A[ \t]*%(?:[\w-]+\.)?md(?:[ \t]*\r?\n|[ \t]+|\Z)")
_MARKDOWN_MARK = "%md\n"
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FileFormat = Literal["zpln", "ipynb"]
MEDIA_TYPES: dict[FileFormat, str] = {"zpln": "application/json", "ipynb": "application/x-ipynb+json"}
_ATTRIBUTES = frozenset({"name", "location", "note_type", "cluster_id"})
"""Keys of an import request about the note itself; every other key is the document's."""
_ZPLN_VERSION = "0.12.0"


def outputs_of(results: Any) -> list[dict[str, Any]]:
    """Return the outputs for results; none for results of another form, which outputs cannot express."""
    if not _is_plain(results):
        return []
    outputs = []
    for number, message in enumerate(results["msg"]):
        about = {"type": message["type"]}
        if number == 0 and results["code"] != _SUCCESS:
            about["code"] = results["code"]
        mime = "text/html" if message["type"] == "HTML" else "text/plain"
        outputs.append(
            {"output_type": "display_data", "data": {mime: message["data"]}, "metadata": {KEY: about}},
        )
    return outputs


def results_of(outputs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the results for outputs, or None when results cannot express any of them."""
    code = _SUCCESS
    messages: list[dict[str, str]] = []
    for output in outputs:
        if output["output_type"] == "error":
            code = _ERROR
        about = _about(output)
        code = about.get("code", code)
        message = _message(output, about.get("type"))
        if message is not None:
            messages.append(message)
    return {"code": code, "msg": messages} if messages else None


def _message(output: Mapping[str, Any], known_type: str | None) -> dict[str, str] | None:
    kind = output["output_type"]
    if kind == "stream":
        return {"type": "TEXT", "data": output["text"]}
    if kind == "error":
        lines = output["traceback"] or [f"{output['ename']}: {output['evalue']}"]
        return {"type": "TEXT", "data": "\n".join(lines)}
    data = output["data"]
    if isinstance(data.get("text/html"), str):
        return {"type": known_type or "HTML", "data": data["text/html"]}
    image = next((mime for mime in data if mime in ("image/png", "image/jpeg", "image/gif")), None)
    if image is not None and isinstance(data[image], str):
        source = html.escape("".join(data[image].split()))
        return {"type": "HTML", "data": f'<img src="data:{image};base64,{source}">'}
    if isinstance(data.get("text/plain"), str):
        return {"type": known_type or "TEXT", "data": data["text/plain"]}
    return None


def _about(output: Mapping[str, Any]) -> dict[str, str]:
    """Return this module's own metadata of an output."""
    metadata = output.get("metadata")
    about = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(about, dict):
        return {}
    return {key: value for key, value in about.items() if key in ("type", "code") and isinstance(value, str)}


def _is_plain(results: Any) -> bool:
    return (
        isinstance(results, dict)
        and results.keys() == _RESULTS
        and isinstance(results["code"], str)
        and isinstance(results["msg"], list)
        and all(
            isinstance(message, dict)
            and message.keys() == _MESSAGE
            and isinstance(message["type"], str)
            and isinstance(message["data"], str)
            for message in results["msg"]
        )
    )


class Imported(NamedTuple):
    """A document from a file, and what of a notebook was repaired for it."""

    document: Document
    message: str | None = None


def note_of(notebook: Mapping[str, Any]) -> Imported:
    """Return the document of a notebook of any known format. Raises `Invalid` when it is none."""
    read = _valid({"nbformat": _FORMAT, "nbformat_minor": _MINOR, "metadata": {}, **notebook})
    content = read.content
    metadata = dict(content["metadata"])
    kept = _object(metadata.pop(KEY, None))
    document: Document = {"paragraphs": [_paragraph(cell) for cell in content["cells"]]}
    document |= {key: value for key, value in kept.items() if key != "paragraphs"}
    left = {"metadata": metadata} if metadata else {}
    if content["nbformat_minor"] != _MINOR:
        left["nbformat_minor"] = content["nbformat_minor"]
    return Imported({**document, _LEFT: left} if left else document, read.note)


def notebook_of(document: Document) -> dict[str, Any]:
    """Return a valid notebook of the newest format with a document's contents."""
    left = _object(document.get(_LEFT))
    kept = {key: value for key, value in document.items() if key not in ("paragraphs", _LEFT)}
    metadata = {**_object(left.get("metadata")), **({KEY: kept} if kept else {})}
    taken: set[str] = set()
    notebook = {
        "nbformat": _FORMAT,
        "nbformat_minor": left.get("nbformat_minor", _MINOR),
        "metadata": metadata,
        "cells": [_cell(paragraph, taken) for paragraph in document["paragraphs"]],
    }
    try:
        return _valid(notebook).content
    except Invalid:  # another program wrote into `ipynb`: the cells without it are always a notebook
        bare = [{key: value for key, value in one.items() if key != _LEFT} for one in document["paragraphs"]]
        taken = set()
        return notebook | {
            "nbformat_minor": _MINOR,
            "metadata": {KEY: kept} if kept else {},
            "cells": [_cell(paragraph, taken) for paragraph in bare],
        }


def _valid(notebook: dict[str, Any]) -> NotebookDocument:
    with translated(NotANotebookError, to=Invalid, about="cells: this is not a notebook"):
        document = NotebookDocument.of(notebook)
        content = document.content
        if content["nbformat_minor"] < _MINOR:
            content["nbformat_minor"] = _MINOR
            number_cells(content["cells"])
            document = replace(NotebookDocument.of(content), repairs=document.repairs)
        document.require_valid()
    return document


def _paragraph(cell: Mapping[str, Any]) -> Document:
    metadata = dict(cell["metadata"])
    kept = _object(metadata.pop(KEY, None))
    paragraph: Document = {"id": cell["id"], **_object(kept.get("paragraph"))}
    source: str = cell["source"]
    if cell["cell_type"] == "markdown":
        mark = kept.get("mark", _MARKDOWN_MARK)
        source = (mark if isinstance(mark, str) else _MARKDOWN_MARK) + source
    if source or not (kept.get("has_no_text") or paragraph.get("text", "") is None):
        paragraph["text"] = source
    left: Document = {"metadata": metadata} if metadata else {}
    if _cell_type(paragraph, {}) != cell["cell_type"]:
        left["cell_type"] = cell["cell_type"]
    if cell.get("attachments") is not None:
        left["attachments"] = cell["attachments"]
    if cell["cell_type"] == "code":
        _take_outputs(cell, paragraph, left)
    return {**paragraph, _LEFT: left} if left else paragraph


def _take_outputs(cell: Mapping[str, Any], paragraph: Document, left: Document) -> None:
    if cell["execution_count"] is not None:
        left["execution_count"] = cell["execution_count"]
    results = results_of(cell["outputs"])
    if cell["outputs"]:
        paragraph.pop("results", None)
    if results is not None:
        paragraph["results"] = results
    if cell["outputs"] and outputs_of(results) != cell["outputs"]:
        left["outputs"] = cell["outputs"]


def _cell(paragraph: Document, taken: set[str]) -> dict[str, Any]:
    left = _object(paragraph.get(_LEFT))
    cell_type = _cell_type(paragraph, left)
    rest = {key: value for key, value in paragraph.items() if key not in ("id", "text", _LEFT)}
    kept: dict[str, Any] = {}
    text = paragraph.get("text")
    source = text or ""
    if text is None and "text" in paragraph:
        rest["text"] = None
    elif text is None:
        kept["has_no_text"] = True
    if cell_type == "markdown":
        mark = found[0] if (found := _MARKDOWN.match(source)) else ""
        source = source[len(mark) :]
        if mark != _MARKDOWN_MARK:
            kept["mark"] = mark
    cell: dict[str, Any] = {"cell_type": cell_type, "id": _cell_id(paragraph["id"], taken), "source": source}
    if cell_type == "code":
        cell["execution_count"] = left.get("execution_count")
        cell["outputs"] = _outputs(rest, left.get("outputs"))
    elif "attachments" in left:
        cell["attachments"] = left["attachments"]
    if cell["id"] != paragraph["id"]:
        rest["id"] = paragraph["id"]
    if rest:
        kept["paragraph"] = rest
    cell["metadata"] = {**_object(left.get("metadata")), **({KEY: kept} if kept else {})}
    return cell


def _outputs(rest: Document, original: Any) -> list[Any]:
    """Return a code cell's outputs, and remove the results that they express from `rest`."""
    results = rest.get("results")
    if isinstance(original, list) and _express(original, results):
        if results is not None:
            del rest["results"]
        return original
    outputs = outputs_of(results)
    if outputs and _express(outputs, results):
        del rest["results"]
        return outputs
    return []


def _express(outputs: list[Any], results: Any) -> bool:
    try:
        return bool(results_of(outputs) == results)
    except (AttributeError, KeyError, TypeError):  # not outputs of a notebook
        return False


def _cell_type(paragraph: Document, left: Mapping[str, Any]) -> str:
    known = left.get("cell_type")
    if known in ("code", "markdown", "raw"):
        return str(known)
    text = paragraph.get("text") or ""
    if not _MARKDOWN.match(text):
        return "code"
    # Markdown with forms runs, which shows their values; only a markdown cell has attachments.
    return "code" if any(placeholders(text)) and "attachments" not in left else "markdown"


def _cell_id(wanted: str, taken: set[str]) -> str:
    """Return an id that no other cell has: the paragraph's if it is valid for a cell, or else a numbered one."""
    found = wanted
    numbers = count(len(taken) + 1)
    while not _CELL_ID.fullmatch(found) or found in taken:
        found = f"cell-{next(numbers)}"
    taken.add(found)
    return found


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def imported(body: NoteImport | NoteReplacement) -> Imported:
    """Return the document of an import, and what of it was repaired. Raises `Invalid` when it has neither format."""
    keys = {key: value for key, value in body if key not in _ATTRIBUTES and value is not None}
    if "cells" in keys or "worksheets" in keys:
        if "paragraphs" in keys:
            raise Invalid("cells: give the paragraphs of a .zpln document or the cells of an .ipynb, not both")
        return note_of(keys)
    if "paragraphs" not in keys:
        raise Invalid("paragraphs: give the paragraphs of a .zpln document, or the cells of an .ipynb")
    return Imported(keys)


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
