"""The executed notebook of a command, as it lies on disk and as an HTML page, however the command ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import structlog

from svc_jupyter.service.errors import Invalid, NotFound
from svc_jupyter.service.notebook_runs.job import EXECUTED_FILE

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; "
        "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""A notebook's outputs are HTML and scripts of whoever wrote it: they run, but in an origin of their own without a
network, so that they can neither call the service in the reader's name nor carry anything away."""
_PAGE_FILE = "executed.html"
_MODULE = "svc_jupyter.service.notebook_runs.html_page"
_SECONDS = 120.0
_AT_ONCE = 2
log = structlog.get_logger(__name__)


def executed_notebook(root: Path, attempts: int) -> Path:
    """Return the executed notebook of a command's last attempt that has one.

    Raises `NotFound` for a command that ended before its notebook began to run.
    """
    for attempt in range(attempts, 0, -1):
        file = root / str(attempt) / EXECUTED_FILE
        if file.exists():
            return file
    raise NotFound(f"command {root.name} has no executed notebook: it ended before the notebook began to run")


class NotebookPages:
    """Makes HTML pages of executed notebooks, each once."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def page(self, notebook: Path) -> Path:
        """Return the page of an executed notebook; raises `Invalid` when it cannot be made."""
        page = notebook.with_name(_PAGE_FILE)
        async with self._slots:
            if not page.exists():
                await _make(notebook, page)
        return page


async def _make(notebook: Path, page: Path) -> None:
    part = page.with_name(f"{page.name}.part")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", _MODULE, str(notebook), str(part)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.startswith("SVC_")},
    )
    try:
        async with asyncio.timeout(_SECONDS):
            _, errors = await process.communicate()
    except TimeoutError:
        errors = b"it took too long"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        part.unlink(missing_ok=True)
        log.warning("page_not_made", notebook=str(notebook), reason=errors.decode("utf-8", "replace")[-2000:])
        raise Invalid("this notebook cannot be shown as HTML (is it too large?); ask for application/x-ipynb+json")
    part.replace(page)
