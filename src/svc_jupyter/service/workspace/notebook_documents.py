"""Notebook documents: the content of an `.ipynb` file, checked and converted to the newest format by nbformat.

nbformat is loaded at the first notebook, or earlier by a caller that expects one: with its compiled validators it takes
13 MB, and a quarter of a second.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any
from uuid import uuid4

from svc_jupyter.service.ground.errors import Failure

_DEFAULT_KERNEL = "python3"
_DISPLAY_NAMES = {_DEFAULT_KERNEL: "Python 3 (ipykernel)"}
_NEWEST = 4
_NEWEST_MINOR = 5
_WITH_IDS = 5
"""Since 4.5 every cell has an id."""
_REASON_LENGTH = 300
_UNUSED = "rfc3987_syntax"
"""jsonschema, with which nbformat validates, loads it for the text format `iri` if it is installed. No notebook schema
has that, and its grammar takes 20 MB and 1.3 s of processor time; without it nbformat loads in 0.05 s.
"""
_MALFORMED = (AttributeError, IndexError, KeyError, NameError, TypeError, ValueError, RecursionError)
"""nbformat's exceptions, besides its own errors, when parts of a document have unexpected types."""


class NotANotebookError(Failure):
    """The reason why a document is not a notebook."""


@dataclass(frozen=True, slots=True)
class NotebookDocument:
    """A notebook as JSON of format 4, multi-line texts joined. `fault` is its violation of the format, if any."""

    content: dict[str, Any]
    fault: str | None

    @classmethod
    def of(cls, content: Any) -> NotebookDocument:
        """Return the notebook of a parsed JSON document; older formats are converted.

        Raises `NotANotebookError` when it is not a notebook, or has a future format.
        """
        major, minor = _version(content)
        nbformat = _nbformat()
        try:
            notebook = nbformat.versions[major].to_notebook_json(content, minor=minor)
            notebook = nbformat.convert(notebook, _NEWEST)
            if notebook["nbformat_minor"] >= _WITH_IDS:
                _number_cells(notebook["cells"])
            return cls(notebook, _fault(notebook))
        except nbformat.ValidationError as error:
            raise NotANotebookError(_shortened(error.message)) from error
        except _MALFORMED as error:
            raise NotANotebookError("it lacks a part of a notebook, or has one of a wrong type") from error

    @classmethod
    def parse(cls, data: bytes) -> NotebookDocument:
        """Return the notebook in a file's bytes. NaN, which Python writes and JSON lacks, becomes null."""
        try:
            content = json.loads(data, parse_constant=lambda _: None)
        except RecursionError as error:
            raise NotANotebookError("its JSON is nested too deeply") from error
        except ValueError as error:
            raise NotANotebookError(f"it is not JSON ({_shortened(str(error))})") from error
        return cls.of(content)

    def serialised(self) -> bytes:
        """Return its stored form: line by line and with sorted keys, which suits version control."""
        return encoded(_nbformat().v4.writes(self.content) + "\n")

    def require_valid(self) -> None:
        """Raise `NotANotebookError` unless every part conforms to the format."""
        if self.fault is not None:
            raise NotANotebookError(self.fault)


def encoded(text: str) -> bytes:
    """Return a JSON document in UTF-8, which cannot encode a lone surrogate: that becomes a JSON escape."""
    return text.encode(errors="backslashreplace")


def require_outline(data: bytes) -> str:
    """Return a file's text when it looks like a notebook: JSON of a known notebook format, without deeper checks.

    Raises `NotANotebookError`. For callers that leave reading to nbformat elsewhere: this does not load it.
    """
    try:
        text = data.decode("utf-8-sig")
        _version(json.loads(text))
    except RecursionError as error:
        raise NotANotebookError("its JSON is nested too deeply") from error
    except ValueError as error:
        raise NotANotebookError(f"it is not JSON ({_shortened(str(error))})") from error
    return text


def empty_notebook(kernel: str | None) -> bytes:
    """Return a new notebook without cells for a kernel, by default Python's."""
    name = kernel or _DEFAULT_KERNEL
    kernelspec = {"name": name, "display_name": _DISPLAY_NAMES.get(name, name)}
    if name == _DEFAULT_KERNEL:
        kernelspec["language"] = "python"
    content = {
        "cells": [],
        "metadata": {"kernelspec": kernelspec},
        "nbformat": _NEWEST,
        "nbformat_minor": _NEWEST_MINOR,
    }
    return (json.dumps(content, indent=1) + "\n").encode()


@cache
def load_what_notebooks_need() -> None:
    """Load nbformat with its validators, so that the first notebook does not wait for it; run it in a thread."""
    NotebookDocument.parse(empty_notebook(None))


def _nbformat() -> ModuleType:
    if "nbformat" not in sys.modules and _UNUSED not in sys.modules:
        sys.modules[_UNUSED] = None  # type: ignore[assignment]  # makes an import fail as if it were not installed
        try:
            import nbformat
        finally:
            sys.modules.pop(_UNUSED, None)
        return nbformat
    import nbformat

    return nbformat


def _version(content: Any) -> tuple[int, int]:
    if not isinstance(content, dict):
        raise NotANotebookError("it is not a JSON object")
    major, minor = content.get("nbformat"), content.get("nbformat_minor", 0)
    if type(major) is not int or type(minor) is not int or major < 1 or minor < 0:
        raise NotANotebookError("it has no valid nbformat and nbformat_minor")
    if major > _NEWEST:
        raise NotANotebookError(f"it is of notebook format {major}; this service reads formats up to {_NEWEST}")
    return major, minor


def _number_cells(cells: list[dict[str, Any]]) -> None:
    """Give each cell without an id its own, as nbformat itself does with a warning."""
    seen: set[str] = set()
    for cell in cells:
        if "id" not in cell or cell["id"] in seen:
            cell["id"] = uuid4().hex[:8]
        seen.add(cell["id"])


def _fault(notebook: dict[str, Any]) -> str | None:
    """Return a notebook's violation of its format. All future formats use one schema: each stays in memory."""
    nbformat = _nbformat()
    minor = min(notebook["nbformat_minor"], _NEWEST_MINOR + 1)
    try:
        nbformat.validate(notebook, version=_NEWEST, version_minor=minor)
    except nbformat.ValidationError as error:
        place = "".join(f"[{part!r}]" for part in error.absolute_path)
        return _shortened(f"{place}: {error.message}" if place else error.message)
    return None


def _shortened(text: str) -> str:
    return text if len(text) <= _REASON_LENGTH else f"{text[: _REASON_LENGTH - 1]}…"
