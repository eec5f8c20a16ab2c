"""A Spark cluster: warm statements, a note and a million rows, compared with Spark Connect; a first note when UP.

The service's are cells in a warm kernel, from the magic's first line to its DataFrame. "Spark Connect" is a separate
client and server on the same Spark, also warm: the alternative without the service. `spark-submit` starts the same
statement as a program each time. All contestants run their tasks in the driver's process (`local[*]`) and take turns;
the other server is idle meanwhile. A cell with its own session follows the previous one after a second; back-to-back
cells have a separate table. sparkmagic cannot be measured: its server, Livy, does not support Spark 4.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Self

import httpx

from benchmarks import report
from benchmarks.contests import Measure, Spread, compete
from benchmarks.kernel import Kernel
from benchmarks.processes import forget_peak, peak_resident, resident
from benchmarks.service import Service
from benchmarks.spark_connect import SparkConnect, submit_seconds
from svc_jupyter.client import Client
from svc_jupyter.service.application.engines import engines_of
from svc_jupyter.service.ground.settings import Settings, default_engines_dir
from svc_jupyter.service.installs.engine import Engine

_ONE = "SELECT 1"
_MILLION = (
    "SELECT id, id * 2 AS twice, id / 3 AS third, cast(id AS string) AS text, id % 7 = 0 AS seventh FROM range(1000000)"
)
_KEPT, _OWN, _CONNECT = "%%svc_sql, a kept session", "%%svc_sql, a session of its own", "Spark Connect"
_PRINTING = "%pyspark\nline = 'x' * 99\nfor _ in range({lines}):\n    print(line)"
_MASTERS = {"in one process": "spark.master=local[*]\nspark.ui.enabled=false", "on YARN": "spark.ui.enabled=false"}
_GOALS = {"in one process": 8, "on YARN": 40}
_LOOK_SECONDS = 0.05
_WARM_UP = 10
_PAUSE_SECONDS = 1.0
"""The pause before a cell with its own session, while a user reads the previous one and the next session is created."""
_BURST = 10
"""The number of back-to-back cells."""


def run(folder: Path, *, quick: bool) -> None:
    """Print seconds of a note, memory, milliseconds of statements, seconds of a million rows, then of starts."""
    home = asyncio.run(engines_of(Settings(data_dir=folder)).ensure(Engine.SPARK, lambda _line: None)).home
    starts = {}
    with (
        Service(folder, SVC_ENGINES_DIR=str(default_engines_dir())) as service,
        Client(*service.address) as client,
        Kernel(folder, SVC_DATA_DIR=str(service.data_dir)) as kernel,
    ):
        kernel.call("run_lines", ["%load_ext svc_jupyter"])
        note = client.notes.create("Common", "one", paragraphs=[{"text": "%sql\nSELECT 1 AS one"}]).id
        for name, settings in _MASTERS.items():
            with _Cluster(service, settings) as cluster:
                starts[name] = (cluster.start_seconds, _run_note(kernel, client, note)[0])
                if name == "in one process":
                    _warm(service, client, kernel, note, home, folder, quick=quick)
    _starts(starts, [submit_seconds(home, folder, _ONE) for _ in range(2 if quick else 5)])


def _warm(
    service: Service, client: Client, kernel: Kernel, note: int, home: Path, folder: Path, *, quick: bool
) -> None:
    rounds = 5 if quick else 20
    _note(kernel, client, note, rounds)
    _memory(service, kernel, client, 10**8 if quick else 10**9)  # before it grows
    with SparkConnect(home, folder) as direct:
        _statements(kernel, direct, rounds)
        _bursts(kernel, direct, max(2, rounds // 4))
        _million(kernel, direct, max(3, rounds // 3))


def _statements(kernel: Kernel, direct: SparkConnect, rounds: int) -> None:
    contestants: dict[str, Measure] = {
        _KEPT: lambda: _cell(kernel, "--app-id warm", _ONE, 1),
        _OWN: lambda: _cell_of_its_own(kernel),
        _CONNECT: lambda: direct.seconds(_ONE),
    }
    results = compete(contestants, rounds, warm_up=_WARM_UP)
    report.contest("SELECT 1 to a DataFrame, warm (goal 120 ms)", "ms", results, _CONNECT, report.milliseconds)


def _cell_of_its_own(kernel: Kernel) -> float:
    time.sleep(_PAUSE_SECONDS)
    return _cell(kernel, "", _ONE, 1)


def _bursts(kernel: Kernel, direct: SparkConnect, rounds: int) -> None:
    contestants: dict[str, Measure] = {
        _KEPT: lambda: _cell(kernel, "--app-id warm", _ONE, 1),
        _OWN: lambda: _cell(kernel, "", _ONE, 1),
        _CONNECT: lambda: direct.seconds(_ONE),
    }
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, measure in contestants.items():
            time.sleep(_PAUSE_SECONDS)
            times[name] += [measure() for _ in range(_BURST)]
    rows = [[name, *map(report.milliseconds, astuple(Spread.of(values)))] for name, values in times.items()]
    title = f"SELECT 1 to a DataFrame, {_BURST} cells one right after the other (goal 120 ms)"
    report.table(title, [f"ms, {rounds} times", "min", "median", "p95", "max"], rows)


def _million(kernel: Kernel, direct: SparkConnect, rounds: int) -> None:
    contestants: dict[str, Measure] = {
        _KEPT: lambda: _cell(kernel, "--app-id warm", _MILLION, 10**6),
        _CONNECT: lambda: direct.seconds(_MILLION),
    }
    results = compete(contestants, rounds, warm_up=2)
    title = "1,000,000 × 5 rows to a DataFrame (goal 1.2 times Spark Connect)"
    report.contest(title, "s", results, _CONNECT, report.seconds)


def _cell(kernel: Kernel, options: str, query: str, rows: int) -> float:
    took, shape = kernel.call("query_by_magic", "svc_sql", options, query)
    if shape[0] != rows:
        raise AssertionError(f"{shape[0]} rows instead of {rows}")
    return float(took)


def _note(kernel: Kernel, client: Client, note: int, rounds: int) -> None:
    pairs = [_run_note(kernel, client, note) for _ in range(rounds)]
    rows = [
        ["%svc_spark_run of a note with one paragraph", *_shown([whole for whole, _ in pairs])],
        ["over the paragraph's own time (goal 0.50)", *_shown([whole - spark for whole, spark in pairs])],
    ]
    report.table("seconds, warm", ["", "median", "max"], rows)


def _run_note(kernel: Kernel, client: Client, note: int) -> tuple[float, float]:
    """Return the seconds of a run and of its paragraphs."""
    seconds = float(kernel.call("cell_seconds", f"%svc_spark_run {note} --label spark"))
    outputs = client.commands.list(per_page=1).commands[0].outputs
    assert outputs is not None
    return seconds, sum(one.seconds or 0.0 for one in outputs.paragraphs)


def _memory(service: Service, kernel: Kernel, client: Client, size: int) -> None:
    note = client.notes.create("Common", "long", paragraphs=[{"text": _PRINTING.format(lines=size // 100)}]).id
    works: dict[str, Callable[[], object]] = {
        "1,000,000 × 5 rows pass": lambda: _cell(kernel, "--app-id warm", _MILLION, 10**6),
        f"a paragraph prints {size / 1e9:g} GB": lambda: _run_note(kernel, client, note),
    }
    rows = []
    for name, work in works.items():
        before = resident(service.pid)
        forget_peak(service.pid)
        seconds = _timed(work)
        rows.append([name, report.megabytes(before), report.megabytes(peak_resident(service.pid) - before)])
        rows[-1].append(report.seconds(seconds))
    report.table("Memory of the service", ["megabytes", "before", "more at most", "seconds"], rows)


def _starts(starts: dict[str, tuple[float, float]], submitted: list[float]) -> None:
    rows = [["spark-submit of a statement, tasks in one process", *_shown(submitted)]]
    for name, (cluster, note) in starts.items():
        rows += [
            [f"cluster {name}: DOWN to UP, a query has run", report.seconds(cluster), ""],
            [f"cluster {name}: its first note (goal {_GOALS[name]})", report.seconds(note), ""],
        ]
    report.table("seconds, cold", ["", "median or once", "max"], rows)


class _Cluster:
    """The Spark cluster of a service, with settings; UP within a `with`."""

    def __init__(self, service: Service, settings: str) -> None:
        base_url, token = service.address
        self._http = httpx.Client(base_url=f"{base_url}/api/v1.2", headers={"X-AUTH-TOKEN": token}, timeout=300)
        self._settings = {"hadoop_settings": {"use_spark": True, "custom_config": settings}}
        self.start_seconds = 0.0

    def __enter__(self) -> Self:
        self._http.put("/clusters/spark", json=self._settings).raise_for_status()
        self.start_seconds = _timed(lambda: self._reach("start", "UP"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reach("terminate", "DOWN")
        self._http.close()

    def _reach(self, wanted: str, state: str) -> None:
        self._http.put("/clusters/spark/state", json={"state": wanted}).raise_for_status()
        while (now := self._http.get("/clusters/spark/state").json())["state"] != state:
            if wanted == "start" and now["state"] == "DOWN":
                raise RuntimeError(f"the cluster did not start: {now['message'] or now['terminate_reason']}")
            time.sleep(_LOOK_SECONDS)


def _shown(values: list[float]) -> tuple[str, str]:
    return report.seconds(median(values)), report.seconds(max(values))


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
