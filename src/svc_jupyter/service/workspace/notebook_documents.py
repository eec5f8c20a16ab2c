"""Notebook documents: the content of an `.ipynb` file, repaired, checked and made one of the newest format.

nbformat is loaded at the first notebook, or earlier by a caller that expects one: with its compiled validators it takes
13 MB, and a quarter of a second.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from svc_jupyter.service.ground.errors import Failure
from svc_jupyter.service.ground.imports import without_the_grammar_of_addresses
from svc_jupyter.service.workspace.notebook_repair import repaired

_DEFAULT_KERNEL = "python3"
_DISPLAY_NAMES = {_DEFAULT_KERNEL: "Python 3 (ipykernel)"}
_NEWEST = 4
_NEWEST_MINOR = 5
_REASON_LENGTH = 300
_MALFORMED = (AttributeError, IndexError, KeyError, NameError, TypeError, ValueError, RecursionError)
"""nbformat's exceptions, besides its own errors, when parts of a document have unexpected types."""


class NotANotebookError(Failure):
    """The reason why a document is not a notebook."""


@dataclass(frozen=True, slots=True)
class NotebookDocument:
    """A notebook as JSON of format 4, multi-line texts joined.

    `repairs` says what of it was put right; `fault` is a violation of the format that is left, if any.
    """

    content: dict[str, Any]
    fault: str | None
    repairs: Sequence[str] = ()

    @classmethod
    def of(cls, content: Any) -> NotebookDocument:
        """Return the notebook of a parsed JSON document; older formats are converted, common faults repaired.

        Raises `NotANotebookError` when it is not a notebook, or has a future format.
        """
        major, minor = _version(content)
        nbformat = _nbformat()
        try:
            repairs: list[str] = []
            if major == _NEWEST:
                content, repairs = repaired({"nbformat_minor": minor, **content})
                minor = content["nbformat_minor"]
            notebook = nbformat.versions[major].to_notebook_json(content, minor=minor)
            if major != _NEWEST:
                with warnings.catch_warnings(action="ignore"):  # about cells without an id, which get one
                    converted, _ = repaired(nbformat.convert(notebook, _NEWEST))
                notebook = nbformat.from_dict(converted)
            fault = _fault(notebook)
            if fault is not None and (clean := _without_invalid_metadata(notebook)) is not None:
                return cls(clean, None, [*repairs, "metadata that the format forbids was left out"])
            return cls(notebook, fault, repairs)
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

    @property
    def note(self) -> str | None:
        """What to tell the person whose notebook this is: the repairs, and a fault that is left."""
        said = [f"the notebook was repaired: {'; '.join(self.repairs)}"] if self.repairs else []
        if self.fault is not None:
            said.append(f"the notebook breaks its format: {self.fault}")
        return "; ".join(said) or None

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


def sources_of(data: bytes) -> str:
    """Return what people have written in a notebook of format 4: the sources of its cells. Of other files, nothing."""
    try:
        content = json.loads(data)
        return "\n".join("".join(cell["source"]) for cell in content["cells"])
    except _MALFORMED:
        return ""


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
    with without_the_grammar_of_addresses():
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


def _without_invalid_metadata(notebook: dict[str, Any]) -> dict[str, Any] | None:
    """Return the notebook without metadata that its format forbids, or None if that is not all that is wrong."""
    nbformat = _nbformat()
    if notebook["nbformat_minor"] > _NEWEST_MINOR:
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            _, clean = nbformat.validator.normalize(notebook, strip_invalid_metadata=True)
    except (nbformat.ValidationError, *_MALFORMED):
        return None
    return clean if _fault(clean) is None else None


def _shortened(text: str) -> str:
    return text if len(text) <= _REASON_LENGTH else f"{text[: _REASON_LENGTH - 1]}…"
