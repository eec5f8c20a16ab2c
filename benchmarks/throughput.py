"""No-op shell commands per second from submission to end, including the client, and submissions per second.

`xargs` starts the same `bash -c true` on all cores and keeps nothing: no record, log, output or exit code. Processor
time is split between the client, the service, and the commands' own processes (a wrapper and bash). In the table of
submissions another command takes all slots, so that none of them runs; "bare" sends the same bytes without a client and
waits for each answer as the client does: both wait for the disk once per submission.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import report
from benchmarks.contests import Measure, Spread, compete
from benchmarks.service import Service
from svc_jupyter.client import Client

TASKS, THREADS, SUBMIT, BARE = "AsyncClient, 32 tasks", "Client, 32 threads", "Client.commands.submit", "bare HTTP"
XARGS = f"xargs -P {os.cpu_count()}"


def run(folder: Path, *, quick: bool) -> None:
    """Print commands per second with their processor time, then submissions per second."""
    count, rounds = (300, 3) if quick else (2_000, 7)
    with Service(folder) as service:
        _commands(service, count, rounds)
    busy = folder / "busy"
    busy.mkdir()
    with Service(busy, SVC_RUNNING_LIMIT="1") as service, Client(*service.address) as client:
        client.commands.submit("ShellCommand", inline="exec sleep 100000")
        contestants = {
            SUBMIT: lambda: count / load(service, "submit", count)["seconds"],
            BARE: lambda: count / load(service, "bare", count)["seconds"],
        }
        results = compete(contestants, rounds, warm_up=0)
        report.contest("One keep-alive connection", "submissions a second", results, BARE, report.whole)


def _commands(service: Service, count: int, rounds: int) -> None:
    used: dict[str, list[dict[str, float]]] = {TASKS: [], THREADS: []}
    contestants: dict[str, Measure] = {
        TASKS: _rate(service, "tasks", count, used[TASKS].append),
        THREADS: _rate(service, "threads", count, used[THREADS].append),
        XARGS: lambda: count / xargs_seconds(count),
    }
    results = compete(contestants, rounds)
    report.contest("End to end", "commands a second", results, XARGS, report.whole)
    rows = []
    for name, shares in used.items():
        parts = [
            Spread.of([share[part] / count for share in shares]).median for part in ("client", "service", "commands")
        ]
        rows.append([name, *(f"{part * 1000:.2f}" for part in (*parts, sum(parts)))])
    columns = ["milliseconds a command, median", "client", "service", "commands' processes", "sum"]
    report.table("Processor time", columns, rows)


def _rate(service: Service, mode: str, count: int, note: Callable[[dict[str, float]], None]) -> Measure:
    """Return a function that runs the load once and returns commands per second; it records the resources used."""

    def measure() -> float:
        answer = load(service, mode, count)
        note(answer)
        return count / answer["seconds"]

    return measure


def load(service: Service, mode: str, count: int) -> dict[str, float]:
    """Run a load (load.py) in a separate process and return its report."""
    command = [sys.executable, "-m", "benchmarks.load", mode, str(count)]
    answer = subprocess.run(command, env=service.environment, stdout=subprocess.PIPE, check=True)
    told: dict[str, float] = json.loads(answer.stdout)
    return told


def xargs_seconds(count: int) -> float:
    """Return the seconds of xargs for this many runs of `bash -c true`, on all cores."""
    numbers = "\n".join(map(str, range(count)))
    command = ["xargs", "-P", str(os.cpu_count()), "-n", "1", "bash", "-c", "true"]
    started = time.perf_counter()
    subprocess.run(command, input=numbers, text=True, check=True)
    return time.perf_counter() - started
