"""Tab in a cell with SQL, from a catalogue of 10,000 tables × 50 columns: from the kernel's request to its answer.

Bars: 50 ms for a Tab, 100 MB for the service. Beside it, a Python name in the same kernel.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from benchmarks import report
from benchmarks.contests import Measure, compete
from benchmarks.kernel import Kernel
from benchmarks.processes import Descendants, forget_peak, peak_resident, resident
from benchmarks.service import Service
from svc_jupyter.client import Client

_COLUMNS = 50
_LINE = "%%svc_db --tap wide\n"
_LONG = "SELECT c_1 + 1 AS c FROM t_17 WHERE c_1;\n" * 1000
_LONGEST_FILL = 300.0


def run(folder: Path, *, quick: bool) -> None:
    """Print the times of completions and the memory that the catalogue takes."""
    count, rounds = (2_000, 10) if quick else (10_000, 50)
    with Service(folder) as service, Client(*service.address) as client:
        file = service.data_dir / "storage" / "wide.db"
        file.parent.mkdir(exist_ok=True)
        _write(file, count)
        tap = client.db_taps.create("wide", "sqlite", db_name=str(file))
        base_url, token = service.address
        with Kernel(folder, SVC_BASE_URL=base_url, SVC_API_TOKEN=token) as kernel:
            kernel.call("run_lines", ["%load_ext svc_jupyter"])
            idle, forked = resident(service.pid), Descendants(service.pid).look()
            forget_peak(service.pid)
            with Descendants(service.pid) as watched:
                first = _tab(kernel, "SELECT * FROM t_1")()
                started = time.perf_counter()
                while client.catalogues.get(tap.id, wait=10).version is None:
                    if time.perf_counter() - started > _LONGEST_FILL:
                        raise AssertionError("the catalogue was not read")
                filled = time.perf_counter() - started
            grown = peak_resident(service.pid) - idle
            later = _seconds_until_known(kernel, "SELECT * FROM t_1")
            print(
                f"\nThe very first Tab, with all imports, while the service begins to read: {first * 1000:.0f} ms; "
                f"the reading: {filled:.1f} s; offered {later:.1f} s later"
            )
            contestants: dict[str, Measure] = {
                "a Python name": lambda: kernel.complete("pri")[0],
                "a table by its first letters": _tab(kernel, "SELECT * FROM t_12", "t_12"),
                "all tables, 1,000 shown": _tab(kernel, "SELECT * FROM ", "t_0"),
                "columns of an alias": _tab(kernel, "SELECT * FROM t_17 AS t WHERE t.", "c_0"),
                "columns of eight joined tables": _tab(kernel, _joined(), "c_0"),
                "in a text of 1,000 lines": _tab(kernel, _LONG + "SELECT c_4 FROM t_17 WHERE c_", "c_0"),
            }  # fmt: skip
            report.contest("Tab", "ms", compete(contestants, rounds), "a Python name", report.milliseconds)
            report.table(
                f"memory for {count:,} tables × {_COLUMNS} columns, at most",
                ["megabytes", "service", "and its processes, while one reads the database"],
                [["growth", report.megabytes(grown), report.megabytes(watched.peak_together - forked)]],
            )


def _write(file: Path, count: int) -> None:
    columns = ", ".join(f"c_{number} INTEGER" for number in range(_COLUMNS))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for number in range(count):
            connection.execute(f"CREATE TABLE t_{number} ({columns})")
        connection.commit()


def _joined() -> str:
    joins = " ".join(f"JOIN t_{number} USING (c_0)" for number in range(21, 28))
    return f"SELECT * FROM t_20 {joins} WHERE "


def _tab(kernel: Kernel, text: str, expected: str | None = None) -> Measure:
    def measure() -> float:
        seconds, matches = kernel.complete(_LINE + text)
        if expected is not None and expected not in matches:
            raise AssertionError(f"{text[-60:]!r}: {expected} is not in {matches[:5]}")
        return seconds

    return measure


def _seconds_until_known(kernel: Kernel, text: str) -> float:
    started = time.perf_counter()
    while not kernel.complete(_LINE + text)[1]:
        if time.perf_counter() - started > _LONGEST_FILL:
            raise AssertionError("the tables are never offered")
    return time.perf_counter() - started
