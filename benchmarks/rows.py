"""Pages of a result of 1,000,000 rows × 6 columns, as a grid reads them: `GET commands/ID/rows`.

Bars: the first page in 100 ms, a page in another order in 500 ms, 150 MB for the service and its processes. Each order
is a new one: the process of the rows keeps only the last ones. Beside it, pyarrow sorts the same column in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import httpx
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks import report
from benchmarks.contests import Measure, compete
from benchmarks.dataset import TABLE, write_sqlite
from benchmarks.processes import Descendants, forget_peak, peak_resident, resident
from benchmarks.service import Service
from svc_jupyter.api import paths
from svc_jupyter.client import Client

_QUERY = f"SELECT id, quantity, price, customer, day, customer || ' ' || id AS code FROM {TABLE}"
_SORTED = {"quantity": "integer", "price": "float", "customer": "text, 50,000 values", "code": "text, all different"}
_ORDERS: tuple[Literal["ascending", "descending"], ...] = ("ascending", "descending")


def run(folder: Path, *, quick: bool) -> None:
    """Print the times of pages and orders beside pyarrow's, and the memory that they take."""
    count, rounds = (200_000, 4) if quick else (1_000_000, 10)
    with Service(folder) as service, Client(*service.address) as client:
        file = service.data_dir / "storage" / "orders.db"
        file.parent.mkdir(exist_ok=True)
        write_sqlite(file, count)
        tap = client.db_taps.create("sqlite", "sqlite", db_name=str(file))
        command = client.commands.submit("DbTapQueryCommand", db_tap_id=tap.id, query=_QUERY)
        table = pa.Table.from_batches(command.wait().result().batches())
        if table.num_rows != count:
            raise AssertionError(f"{table.num_rows} rows instead of {count}")
        address, token = service.address
        with httpx.Client(base_url=address, headers={"X-AUTH-TOKEN": token}, timeout=60, trust_env=False) as http:
            rows = _Rows(http, command.id, count)
            idle, forked = resident(service.pid), Descendants(service.pid).look()
            forget_peak(service.pid)
            with Descendants(service.pid) as watched:
                first = rows.page()  # starts the result's process
                pages = {
                    "first page": rows.page,
                    "page in the middle": lambda: rows.page(offset=count // 2),
                    "filter by an integer": rows.found(),
                }
                print(f"\nThe first page of all, with the start of its process: {first * 1000:.0f} ms")
                report.contest("pages", "ms", compete(pages, rounds), "first page", report.milliseconds)
                for name, kind in _SORTED.items():
                    contestants = {"a page by HTTP": rows.ordered(name), "pyarrow": _bare(table, name)}
                    results = compete(contestants, rounds)
                    report.contest(f"sorted by {kind}", "ms", results, "pyarrow", report.milliseconds)
            grown = peak_resident(service.pid) - idle
            report.table(
                "memory",
                ["megabytes", "service", "and its processes"],
                [["growth", report.megabytes(grown), report.megabytes(watched.peak_together - forked + grown)]],
            )


class _Rows:
    """The rows of one command; each measurement is in seconds."""

    def __init__(self, http: httpx.Client, command_id: int, count: int) -> None:
        self._http = http
        self._path = paths.command(command_id, "rows")
        self._count = count

    def page(self, **query: Any) -> float:
        started = time.perf_counter()
        answer = self._http.get(self._path, params={"limit": 100, **query})
        taken = time.perf_counter() - started
        answer.raise_for_status()
        if len(answer.json()["rows"]) != 100:
            raise AssertionError(f"not a page: {answer.text[:200]}")
        return taken

    def ordered(self, column: str) -> Measure:
        """Ask for an order that is not kept: ones of other columns come between."""
        signs = cycle(("", "-"))

        def measure() -> float:
            for other in range(4):
                self.page(where=f'[["id","!=",{other}]]')
            return self.page(sort=f"{next(signs)}{column}")

        return measure

    def found(self) -> Measure:
        values = cycle(range(1, 900))
        return lambda: self.page(where=f'[["quantity","=",{next(values)}]]')


def _bare(table: pa.Table, column: str) -> Callable[[], float]:
    orders = cycle(_ORDERS)

    def measure() -> float:
        order = next(orders)
        started = time.perf_counter()
        found = pc.sort_indices(table.select([column]), sort_keys=[(column, order)])
        table.take(found[:100])
        return time.perf_counter() - started

    return measure
