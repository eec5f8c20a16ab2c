"""The parent of the runs' processes: loads nbclient and IPython once (0.5 s), then forks a run in 1 ms.

python -m svc_jupyter.service.kinds.notebook.worker

`processes/worker_parent.py` describes how a job arrives and what a worker leaves. A run forks its kernel in turn, so
both have everything in memory and are still fresh processes. This module imports nothing of the service but this
folder, that file and the readers of notebooks.
"""

from __future__ import annotations

import os
import sys
from functools import partial

_LOADED = (
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "asyncio",
    "concurrent.futures.thread",
    "faulthandler",
    "ipykernel.displayhook",
    "ipykernel.iostream",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "sqlite3",
    "svc_jupyter.service.kinds.notebook.run",
    "tornado.platform.asyncio",
)
"""What a run and an IPython kernel import at their start, found by comparing `sys.modules`."""


def load() -> None:
    """Import everything that a run and its kernel need, so that the forked processes have it in memory."""
    import importlib

    from svc_jupyter.service.ground.imports import without_the_grammar_of_addresses
    from svc_jupyter.service.processes.worker_parent import freeze

    with without_the_grammar_of_addresses():
        for name in _LOADED:
            importlib.import_module(name)
    from svc_jupyter.service.kinds.notebook.notebook_file import read_notebook

    read_notebook('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "")  # compiles the schema
    freeze()


def main() -> None:
    """Load, and fork a process for each job."""
    from svc_jupyter.service.kinds.notebook.job import RunJob
    from svc_jupyter.service.processes.worker_parent import MARK, from_line, serve

    def work(job: RunJob) -> int:
        from svc_jupyter.service.kinds.notebook.run import run

        os.environ[MARK] = str(job.folder)
        return run(job)

    load()
    serve(partial(from_line, RunJob), work)


if __name__ == "__main__":
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # as a kernel's launcher does: files in the service's start folder must not be importable
    main()
