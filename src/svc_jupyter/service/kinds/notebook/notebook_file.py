"""Notebooks on disk: reads a source, and writes the executed copy during the run."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from pathlib import Path
from typing import cast

from nbformat import NotebookNode
from nbformat.v4 import writes_json

from svc_jupyter.files import write_whole
from svc_jupyter.service.kinds.notebook.failures import RunFailure
from svc_jupyter.service.workspace.notebook_documents import NotANotebookError, NotebookDocument

_CHEAP_SECONDS = 0.1
_SHARE = 10


def read_notebook(text: str, name: str) -> tuple[NotebookNode, str | None]:
    """Return a notebook of format 4, and what of it was repaired.

    Older formats are converted, a newer minor version stays unchanged. Raises `RunFailure` with the reason when it is
    not a notebook.
    """
    try:
        document = NotebookDocument.parse(text.encode())
        document.require_valid()
    except NotANotebookError as error:
        raise RunFailure(f"{name} is not a notebook: {error}", may_retry=False) from None
    return cast("NotebookNode", document.content), document.note


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
