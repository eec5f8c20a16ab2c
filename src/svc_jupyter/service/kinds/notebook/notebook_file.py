"""Notebooks on disk: reads a source, and writes the executed copy during the run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import time
import warnings
from pathlib import Path
from typing import Any, cast

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import writes_json

from svc_jupyter.files import write_whole
from svc_jupyter.service.kinds.notebook.failures import RunFailure

_FORMAT = 4
_CHEAP_SECONDS = 0.1
_SHARE = 10
_REASON_LIMIT = 300


def read_notebook(text: str, name: str) -> NotebookNode:
    """Return a notebook of format 4: older formats are converted, a newer minor version stays unchanged.

    Raises `RunFailure` with the reason when it is not a notebook.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise RunFailure(f"{name} is not JSON: {error}", may_retry=False) from None
    except RecursionError:
        raise _no_notebook(name, "it is nested too deeply") from None
    version, minor = _version_of(document)
    if version is None or minor is None:
        raise _no_notebook(name, "it has no nbformat and nbformat_minor")
    if version not in nbformat.versions:
        raise RunFailure(
            f"{name} has the notebook format {version}; this service runs formats up to {_FORMAT}", may_retry=False
        )
    try:
        with warnings.catch_warnings(action="ignore"):  # about missing or duplicate cell ids, which are corrected
            notebook = nbformat.versions[version].to_notebook_json(document, minor=minor)
            notebook = nbformat.convert(notebook, _FORMAT)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise _no_notebook(name, error.message) from None
    except (IndexError, KeyError, NameError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise _no_notebook(name, f"{type(error).__name__}: {error}") from None
    return cast("NotebookNode", notebook)


def _version_of(document: Any) -> tuple[int | None, int | None]:
    if not isinstance(document, dict):
        return None, None
    found = (document.get("nbformat"), document.get("nbformat_minor", 0))
    major, minor = (number if type(number) is int else None for number in found)
    return major, minor


def _no_notebook(name: str, reason: str) -> RunFailure:
    return RunFailure(f"{name} is JSON, but no notebook: {reason[:_REASON_LIMIT]}", may_retry=False)


class ExecutedFile:
    """The executed notebook on disk, replaced as a whole each time."""

    def __init__(self, file: Path, notebook: NotebookNode, *, min_free_bytes: int) -> None:
        self._file = file
        self._notebook = notebook
        self._min_free_bytes = min_free_bytes
        self._cost = 0.0
        self._saved_at = 0.0
        self._planned: asyncio.TimerHandle | None = None

    def save_soon(self) -> None:
        """Save now, or once that takes at most a tenth of the time: a large one is not written after each cell.

        Call it in the event loop; end with `save`, after which nothing is written later.
        """
        pause = 0.0 if self._cost < _CHEAP_SECONDS else self._saved_at + _SHARE * self._cost - time.monotonic()
        if pause <= 0:
            self.save()
        elif self._planned is None:
            self._planned = asyncio.get_running_loop().call_later(pause, self._save_planned)

    def _save_planned(self) -> None:
        with contextlib.suppress(RunFailure):  # the next save raises it, in the run
            self.save()

    def save(self, *, durable: bool = False) -> None:
        """Write the notebook. Raises `RunFailure` when the disk is (nearly) full; the previous file is kept then."""
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None
        began = time.monotonic()
        self.check_room()
        text: str = writes_json(self._notebook) + "\n"  # type: ignore[no-untyped-call]
        try:
            write_whole(self._file, text.encode(errors="backslashreplace"), durable=durable)
        except OSError as error:
            raise RunFailure(f"the executed notebook could not be written: {error.strerror or error}") from None
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - began

    def check_room(self) -> None:
        """Raise `RunFailure` when the disk has less free space than the service keeps."""
        free = shutil.disk_usage(self._file.parent).free
        if free < self._min_free_bytes:
            raise RunFailure(
                f"only {free // 2**20} MB are free on the service's disk; a run leaves {self._min_free_bytes // 2**20}"
            )
