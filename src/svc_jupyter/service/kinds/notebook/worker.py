"""The parent of the runs' processes: loads nbclient once (0.5 s), then forks a run in 1 ms.

python -m svc_jupyter.service.kinds.notebook.worker

`processes/worker_parent.py` describes how a job arrives and what a worker leaves. This module imports nothing of the
service but this folder, that file and the readers of notebooks.
"""

from __future__ import annotations

import os
import sys
from functools import partial


def load() -> None:
    """Import everything that a run needs, so that the forked processes have it in memory."""
    from svc_jupyter.service.ground.imports import without_the_grammar_of_addresses
    from svc_jupyter.service.processes.worker_parent import freeze

    with without_the_grammar_of_addresses():
        import ipykernel.kernelspec  # noqa: F401

        import svc_jupyter.service.kinds.notebook.run  # noqa: F401
    from svc_jupyter.service.kinds.notebook.notebook_file import read_notebook

    read_notebook('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "")  # compiles the schema
    freeze()


def main() -> None:
    """Load, and fork a process for each job."""
    from svc_jupyter.service.kinds.notebook.job import RunJob
    from svc_jupyter.service.processes.worker_parent import from_line, serve

    def work(job: RunJob) -> int:
        from svc_jupyter.service.kinds.notebook.run import run

        return run(job)

    load()
    serve(partial(from_line, RunJob), work)


if __name__ == "__main__":
    if sys.path[0] in ("", os.getcwd()):
        del sys.path[0]  # as a kernel's launcher does: files in the service's start folder must not be importable
    main()
