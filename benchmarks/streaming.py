"""A log and a result of 1 GB, sent by the service and read by the client in constant memory.

`python -m http.server` sends the same file to the same HTTP library, for comparison with a plain download. The growth
is the peak of memory minus the memory before the download; it must not depend on the size.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import report
from benchmarks.contests import Measure, compete
from benchmarks.processes import forget_peak, peak_resident, resident
from benchmarks.service import Service
from benchmarks.surroundings import environment
from svc_jupyter.client import Client

LINE = "x" * 99
PLAIN = "plain download"
_ROUNDS = 3


def run(folder: Path, *, quick: bool) -> None:
    """Print rates and memory for both."""
    size = 10**8 if quick else 10**9
    script = f"yes {LINE} | head -c {size}"
    with Service(folder) as service, Client(*service.address) as client:
        logged = client.commands.submit("ShellCommand", inline=f"{script} >&2").wait()
        printed = client.commands.submit("ShellCommand", inline=script).wait()
        plain = folder / "plain"
        plain.mkdir()
        (plain / "file").write_text(f"{LINE}\n" * (size // 100))
        with _plain_server(folder, plain) as url:
            used: dict[str, list[tuple[int, int]]] = {}
            readings = {
                "log, read at its end": ("log", str(logged.id)),
                "log, followed while written": ("follow", f"{script} >&2"),
                "result, in batches": ("batches", str(printed.id)),
                "result, saved as Arrow": ("save", str(printed.id)),
                PLAIN: ("plain", url),
            }
            contestants = {
                name: _reader(service, used.setdefault(name, []), mode, what, size)
                for name, (mode, what) in readings.items()
            }
            results = compete(contestants, _ROUNDS, warm_up=0)
    title = f"{size / 1e9:g} GB"
    report.contest(title, "megabytes a second", results, PLAIN, report.whole)
    rows = []
    for name, growths in used.items():
        rows.append([name, *(report.megabytes(max(growth)) for growth in zip(*growths, strict=True))])
    report.table(f"Growth of memory, {title}", ["megabytes, the most", "service", "client"], rows)


def _reader(service: Service, used: list[tuple[int, int]], mode: str, what: str, size: int) -> Measure:
    """Return a function that reads once, with `read.py` in a separate process, and returns megabytes per second.

    `used` receives the growth of service and client, in bytes.
    """

    def measure() -> float:
        before = resident(service.pid)
        forget_peak(service.pid)
        command = [sys.executable, "-m", "benchmarks.read", mode, what]
        done = subprocess.run(command, env=service.environment, stdout=subprocess.PIPE, check=True)
        answer = json.loads(done.stdout)
        if answer["bytes"] < size:
            raise AssertionError(f"{mode}: {answer['bytes']} bytes instead of {size}")
        used.append((peak_resident(service.pid) - before, answer["growth"]))
        return float(size / answer["seconds"] / 1e6)

    return measure


@contextmanager
def _plain_server(folder: Path, served: Path) -> Iterator[str]:
    """Serve a folder with the standard library's server; yield the address of its `file`."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(served)]
    with (folder / "plain.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment(folder))
    try:
        assert process.stdout is not None
        port = process.stdout.readline().split()[5]
        yield f"http://127.0.0.1:{port}/file"
    finally:
        process.terminate()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
