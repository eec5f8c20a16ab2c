"""What a start of the service does without: it takes a second as it is."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, sys
from pathlib import Path

import svc_jupyter.service.application.app
assert not {"nbclient", "nbconvert", "nbformat", "ipykernel", "IPython", "pyarrow", "sqlglot", "zmq"} & set(sys.modules)
import svc_jupyter.magics.completion.sql_completions
from svc_jupyter.api.schedules import PreviewRequest
from svc_jupyter.service.access.callers import Caller
from svc_jupyter.service.application.service import Service
from svc_jupyter.service.db_taps.statements import split
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.service.schedules.schedules import Schedules
from svc_jupyter.service.workspace.notebook_documents import NotebookDocument
from svc_jupyter.sql_tokens import Dialect

async def main() -> None:
    service = Service.of(Settings(data_dir=Path(sys.argv[1])))
    await asyncio.to_thread(service.prepare)
    await service.start()
    assert not {"sqlglot", "nbformat"} & set(sys.modules)
    split("select 1", Dialect.SQLITE)
    assert "sqlglot" in sys.modules
    by = Caller(1, 1, "admin@localhost", frozenset({"system-admin"}), 1)
    await service.parts[Schedules].preview(PreviewRequest(frequency=1), by=by)
    while "nbformat" not in sys.modules:
        await asyncio.sleep(0.01)
    NotebookDocument.of({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": []})
    assert not {"rfc3987_syntax", "lark"} & set(sys.modules)
    await service.stop()

asyncio.run(main())
"""


def test_sqlglot_is_loaded_at_the_first_script_nbformat_at_a_preview_of_a_schedule_and_jupyter_never(tmp_path: Path):
    subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], check=True, timeout=60)
