"""The executed notebook of a command, as stored and as an HTML page, however the command ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path

import structlog

from svc_jupyter.files import replacing
from svc_jupyter.service.ground.errors import Invalid, NotFound
from svc_jupyter.service.ground.settings import script_environment
from svc_jupyter.service.kinds.notebook.job import EXECUTED_FILE

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; "
        "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""A notebook's outputs contain its author's HTML and scripts. They run in an opaque origin without a network, so that
they can neither call the service as the reader nor send anything out.
"""
_PAGE_FILE = "executed.html"
_MODULE = "svc_jupyter.service.kinds.notebook.html_page"
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
                with replacing(page) as draft:
                    await _make(notebook, draft)
        return page


async def _make(notebook: Path, page: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", _MODULE, str(notebook), str(page)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=script_environment(os.environ),
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
        log.warning("page_not_made", notebook=str(notebook), reason=errors.decode("utf-8", "replace")[-2000:])
        raise Invalid("this notebook cannot be shown as HTML (is it too large?); ask for application/x-ipynb+json")
