"""The time to wait for `%load_ext`, for the first cell, and for the service; the resources of the idle service.

Each start is a fresh interpreter with a ready IPython shell. The first cell is `%%svc_shell` with `echo hi`, or
JupySQL's `%%sql` with `SELECT 1`, `%load_ext` included. Without a running service the first cell starts the embedded
one. Modules are already compiled, as from the second start on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from benchmarks import report
from benchmarks.contests import compete
from benchmarks.engines import ipcluster
from benchmarks.load_ext import MARK
from benchmarks.processes import busy_share, resident
from benchmarks.service import STOP_SECONDS, Service
from benchmarks.surroundings import environment
from svc_jupyter.client.address.embedded import EmbeddedService

RUNNING, STOPPED, JUPYSQL = "svc_jupyter, service runs", "svc_jupyter, no service", "JupySQL"
FRESH, EXISTING, IPCLUSTER = "service, fresh data folder", "service, existing data folder", "ipcluster of one engine"


def run(folder: Path, *, quick: bool) -> None:
    """Print the times to load, to the first value and to a ready service, then the resources of the idle service."""
    rounds, idle_seconds = (5, 5) if quick else (20, 20)
    with Service(folder) as service:
        _load_and_first_cell(folder, service, rounds)
        _idle(service, idle_seconds)
    _service_starts(folder, max(rounds // 2, 3))


def _load_and_first_cell(folder: Path, service: Service, rounds: int) -> None:
    nobody = folder / "nobody"
    nobody.mkdir()
    alone = environment(folder, SVC_DATA_DIR=str(nobody))

    def first_cell_alone() -> float:
        try:
            return interpreter_seconds(alone, "svc_jupyter", "svc_shell", "echo hi")
        finally:
            stop_embedded(nobody)

    results = compete(
        {
            RUNNING: lambda: interpreter_seconds(service.environment, "svc_jupyter"),
            STOPPED: lambda: interpreter_seconds(alone, "svc_jupyter"),
            JUPYSQL: lambda: interpreter_seconds(alone, "sql"),
        },
        rounds,
    )
    report.contest("%load_ext", "milliseconds", results, JUPYSQL, report.milliseconds)
    results = compete(
        {
            RUNNING: lambda: interpreter_seconds(service.environment, "svc_jupyter", "svc_shell", "echo hi"),
            STOPPED: first_cell_alone,
            JUPYSQL: lambda: interpreter_seconds(alone, "sql", "sql", "SELECT 1", "sqlite://"),
        },
        max(rounds // 2, 3),
    )
    report.contest("%load_ext and the first cell", "seconds", results, JUPYSQL, report.seconds)


def interpreter_seconds(environ: dict[str, str], extension: str, *cell: str) -> float:
    """Return the result of `load_ext.py` in a fresh interpreter: loading an extension, and a first cell if given."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.load_ext", extension, *cell]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            return float(line.removeprefix(MARK))
    raise RuntimeError(f"{extension} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def stop_embedded(data_dir: Path) -> None:
    """Stop the service that a first cell started, and wait for its end."""
    found = EmbeddedService(data_dir).find()
    if found is not None:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(found.pid)
            os.kill(found.pid, signal.SIGTERM)
            process.wait(STOP_SECONDS)


def _idle(service: Service, seconds: float) -> None:
    values = [report.megabytes(resident(service.pid)), f"{busy_share(service.pid, seconds) * 100:.2f}"]
    report.table(f"Idle service, over {seconds:.0f} s", ["", "RSS, megabytes", "% of a core"], [["service", *values]])


def _service_starts(folder: Path, rounds: int) -> None:
    existing = Service(folder)
    numbers = iter(range(1_000_000))

    def start_and_stop(service: Service) -> float:
        try:
            return service.start()
        finally:
            service.stop()

    def start_fresh() -> float:
        place = folder / f"fresh-{next(numbers)}"
        place.mkdir()
        return start_and_stop(Service(place))

    def start_cluster() -> float:
        place = folder / f"cluster-{next(numbers)}"
        place.mkdir()
        started = time.perf_counter()
        with ipcluster(place):
            return time.perf_counter() - started

    results = compete(
        {FRESH: start_fresh, EXISTING: lambda: start_and_stop(existing), IPCLUSTER: start_cluster}, rounds
    )
    report.contest("From the command to `ready`", "seconds", results, EXISTING, report.seconds)
