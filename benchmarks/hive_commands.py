"""Hive queries as commands, from submission over HTTP to a DataFrame, compared with PyHive on the same HiveServer2.

Both use one warm server; PyHive keeps its connection and builds its DataFrame from the fetched rows. A row has two
numbers, a decimal, a date and a text.
"""

from __future__ import annotations

import io
import time
from pathlib import Path

import httpx
import pandas as pd
import pyarrow as pa
from pyhive import hive

from benchmarks import report
from benchmarks.cluster import running_cluster
from benchmarks.contests import Measure, compete
from benchmarks.service import Service
from svc_jupyter.api.paths import ARROW_STREAM
from svc_jupyter.service.ground.settings import default_engines_dir
from svc_jupyter.service.runtimes.hive_server.program import PORT

COMMAND = "HiveCommand"
DIRECT = "PyHive"
_ROWS = (
    "SELECT id, id * 0.5D AS half, cast(id AS decimal(12,2)) AS money, date_add(date'2020-01-01', cast(id % 9 AS int)) "
    "AS day, concat('row ', id) AS name FROM range({count})"
)


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds of both, for one row and for many."""
    counts = (1, 20_000) if quick else (1, 200_000)
    with Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service:
        base_url, token = service.address
        with (
            httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=150) as http,
            running_cluster(http, 1) as coordinator,
        ):
            _command(http, "SELECT 1")()  # starts HiveServer2
            with hive.connect(host=coordinator, port=PORT, auth="NOSASL") as connection:
                for count in counts:
                    query = _ROWS.format(count=count)
                    contestants = {COMMAND: _command(http, query), DIRECT: _direct(connection, query)}
                    results = compete(contestants, 3 if quick else 9)
                    title = f"A query of {count:,} row{'' if count == 1 else 's'}"
                    report.contest(title, "seconds", results, DIRECT, report.seconds)


def _command(http: httpx.Client, query: str) -> Measure:
    def measure() -> float:
        began = time.perf_counter()
        body = {"command_type": "HiveCommand", "query": query}
        record = http.post("/commands", json=body, params={"wait": 60}).raise_for_status().json()
        while record["status"] in ("waiting", "running"):
            record = http.get(f"/commands/{record['id']}", params={"wait": 60}).json()
        rows = http.get(f"/commands/{record['id']}/results", headers={"Accept": ARROW_STREAM})
        if rows.status_code != httpx.codes.OK:
            raise RuntimeError(f"{record['message']}: {rows.text}")
        pa.ipc.open_stream(io.BytesIO(rows.content)).read_pandas()
        return time.perf_counter() - began

    return measure


def _direct(connection: hive.Connection, query: str) -> Measure:
    def measure() -> float:
        began = time.perf_counter()
        with connection.cursor() as cursor:
            cursor.arraysize = 20_000
            cursor.execute(query)
            pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
        return time.perf_counter() - began

    return measure
