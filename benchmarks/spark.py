"""A Spark cluster in local mode: warm statements, a note, a million rows, beside Spark used directly.

"toPandas" is a program in the engine's own Python with a warm session of its own: what somebody without a service would
write. `spark-submit` is the same statement as a program, started anew. Both run while the cluster is up and idle.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from benchmarks import report
from benchmarks.contests import Results
from benchmarks.service import Service
from svc_jupyter.client import Client
from svc_jupyter.service.engines.engine import Engine
from svc_jupyter.service.engines.engines import Engines
from svc_jupyter.service.settings import Settings, default_engines_dir

MILLION = (
    "SELECT id, id * 2 AS twice, id / 3 AS third, cast(id AS string) AS text, id % 7 = 0 AS seventh FROM range(1000000)"
)
_DIRECT = """
import json, sys, time
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
times = []
for _ in range(int(sys.argv[2]) + 2):
    started = time.perf_counter()
    spark.sql(sys.argv[1]).toPandas()
    times.append(time.perf_counter() - started)
print("times", json.dumps(times[2:]))
"""
_LOCAL = {"hadoop_settings": {"use_spark": True, "custom_config": "spark.master=local[*]\nspark.ui.enabled=false"}}
_LOOK_SECONDS = 0.05


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds of a start, then milliseconds of statements and of a note, then a million rows."""
    rounds = 5 if quick else 20
    with Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service, Client(*service.address) as client:
        base_url, token = service.address
        with httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=300) as http:
            http.put("/clusters/spark", json=_LOCAL).raise_for_status()
            started = _timed(lambda: _reach(http, "start", "UP"))
            try:
                report.table(
                    "seconds", ["", "once"], [["cluster started, a query ran (goal 8 s)", report.seconds(started)]]
                )
                _statements(client, folder, rounds)
                _note(client, rounds)
                _million(client, folder, max(2, rounds // 4))
            finally:
                _reach(http, "terminate", "DOWN")


def _statements(client: Client, folder: Path, rounds: int) -> None:
    def command() -> None:
        client.commands.submit("SparkCommand", sql="SELECT 1", app_id="warm").wait().result().to_arrow()

    command()
    cold = [_timed(lambda: _direct(folder, "SELECT 1", 0)) for _ in range(2)]
    results = Results({"SparkCommand, sql": [_timed(command) for _ in range(rounds)], "spark-submit": cold})
    report.contest("SELECT 1, warm (goal 120 ms)", "ms", results, "spark-submit", report.milliseconds)


def _note(client: Client, rounds: int) -> None:
    note = client.notes.create("Common", "one", paragraphs=[{"text": "%sql\nSELECT 1 AS one"}])
    over = []
    for number in range(rounds + 1):
        started = time.perf_counter()
        run_ = client.commands.submit("SparkCommand", note_id=note.id, label="spark").wait()
        seconds = time.perf_counter() - started
        assert run_.record.outputs is not None
        if number:
            over.append(seconds - (run_.record.outputs.paragraphs[0].seconds or 0))
    rows = [
        [
            "a note of one paragraph, over the paragraph's time (goal 0.5 s)",
            report.seconds(median(over)),
            report.seconds(max(over)),
        ]
    ]
    report.table("seconds", ["", "median", "max"], rows)


def _million(client: Client, folder: Path, rounds: int) -> None:
    def command() -> None:
        client.commands.submit("SqlCommand", query=MILLION, app_id="warm").wait().result().to_pandas()

    command()
    results = Results(
        {"SqlCommand": [_timed(command) for _ in range(rounds)], "toPandas": _direct(folder, MILLION, rounds)}
    )
    report.contest(
        "1,000,000 × 5 rows to a DataFrame (goal 1.2 times the direct way)", "s", results, "toPandas", report.seconds
    )


def _direct(folder: Path, query: str, rounds: int) -> list[float]:
    """Run a statement by Spark's own Python; return the seconds of each round after two to warm up."""
    installed = asyncio.run(Engines.of(Settings(data_dir=folder)).ensure(Engine.SPARK, lambda _line: None))
    command = [str(installed.home / "bin" / "python"), "-c", _DIRECT, query, str(rounds)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    times: list[float] = json.loads(told.rpartition("times ")[2])
    return times


def _reach(http: httpx.Client, wanted: str, state: str) -> dict[str, Any]:
    http.put("/clusters/spark/state", json={"state": wanted}).raise_for_status()
    while (now := http.get("/clusters/spark/state").json())["state"] != state:
        time.sleep(_LOOK_SECONDS)
    return dict(now)


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
