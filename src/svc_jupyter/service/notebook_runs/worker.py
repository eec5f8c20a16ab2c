"""The parent of the runs' processes: loads nbclient and IPython once (0.5 s), then forks a run in 1 ms.

    python -m svc_jupyter.service.notebook_runs.worker

`workers/parent.py` says how a job comes and what a worker leaves behind. A run forks its kernel in turn: so both have
everything in memory, and each run still has a fresh process of its own for either. Nothing of the service but this
folder and that file is imported here.
"""

from __future__ import annotations

import os
import sys

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
    "svc_jupyter.service.notebook_runs.run",
    "tornado.platform.asyncio",
)
"""What a run and an IPython kernel import while they start, found by comparing `sys.modules`."""

_COSTLY = "rfc3987_syntax"
"""jsonschema checks a rare format by it, where it is installed: two thirds of all the time it takes to load."""


def load() -> None:
    """Import everything that a run and its kernel need, so that the forked processes find it in memory."""
    import importlib

    from svc_jupyter.service.workers.parent import Without, freeze

    without = Without(_COSTLY)
    sys.meta_path.insert(0, without)
    for name in _LOADED:
        importlib.import_module(name)
    sys.meta_path.remove(without)
    from svc_jupyter.service.notebook_runs.notebook_file import read_notebook

    read_notebook('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "")  # compiles the schema
    freeze()


def main() -> None:
    """Load, and fork a process for each job."""
    from svc_jupyter.service.notebook_runs.job import RunJob, from_line
    from svc_jupyter.service.workers.parent import MARK, serve

    def work(job: RunJob) -> int:
        from svc_jupyter.service.notebook_runs.run import run

        os.environ[MARK] = str(job.folder)
        return run(job)

    load()
    serve(from_line, work)


if __name__ == "__main__":
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # as a kernel's launcher does: what lies where the service was started is not to be imported
    main()
