"""Pig commands for tests, and a little data for them.

`run_pig(service, script, **fields)` submits a script and returns the command's record at its end; `rows_of` its typed
rows. `put_data(service)` puts the files of `DATA` into the account's storage.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.support.service_process import ServiceProcess

from svc_jupyter.api.paths import ARROW_STREAM

DATA = {
    "pig/flights.csv": "UA,LGA,10\nUA,EWR,-5\nAA,LGA,\nB6,JFK,30\nUA,LGA,7\n",
    "pig/nested.txt": "a\t1\t{(x,1),(y,2)}\t[k#1,l#2]\t(p,3)\nb\t\t\t\t\nc\tz\t{}\t[]\t()\n",
    "pig/udfs.py": (
        "from pig_util import outputSchema\n"
        "@outputSchema('r:chararray')\n"
        "def lower(text):\n"
        "    return text.lower()\n"
        "@outputSchema('r:chararray')\n"
        "def failing(text):\n"
        "    raise ValueError('cannot take ' + text)\n"
    ),
}
FLIGHTS = "f = LOAD 'pig/flights.csv' USING PigStorage(',') AS (carrier:chararray, origin:chararray, delay:int);\n"
SECONDS = 280.0
"""How long a script may take on a cluster, on a machine that runs other tests meanwhile."""


def put_data(service: ServiceProcess) -> Path:
    """Put the data into the storage of a service; return its folder.

    A file is never empty on the way: a script that another process of the session runs may be reading it.
    """
    storage = service.data_dir / "storage"
    for name, text in DATA.items():
        file = storage / name
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.{os.getpid()}")
        new.write_text(text)
        new.replace(file)
    return storage


def submit_pig(service: ServiceProcess, script: str | None, **fields: Any) -> int:
    """Submit a script; return the command's id."""
    body = {"command_type": "PigCommand", "latin_statements": script, **fields}
    response = service.http.post("/commands", json=body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def run_pig(service: ServiceProcess, script: str | None, **fields: Any) -> dict[str, Any]:
    """Run a script to its end; return the command's record."""
    return service.ended(submit_pig(service, script, **fields), SECONDS)


def succeeded(service: ServiceProcess, script: str | None, **fields: Any) -> dict[str, Any]:
    """Run a script that must succeed; return the command's record."""
    record = run_pig(service, script, **fields)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(record['id'])}"
    return record


def table_of(service: ServiceProcess, command_id: int, **query: str) -> pa.Table:
    """Return the typed rows of a command, or of one of its DUMPs (`dump=`)."""
    response = service.http.get(f"/commands/{command_id}/results", params=query, headers={"Accept": ARROW_STREAM})
    assert response.status_code == 200, response.text
    return pa.ipc.open_stream(response.content).read_all()


def rows_of(service: ServiceProcess, command_id: int, **query: str) -> list[dict[str, Any]]:
    """Return the rows as Python values."""
    return list(table_of(service, command_id, **query).to_pylist())
