"""Memory of the service while it sends a query's result: it must not depend on the number of rows.

A query runs in a worker process of the service; the worker's parent stays for the next query. The service's growth is
its peak minus its memory before the query; for service and workers together, shared memory counts once. The client
reads the result as `%%svc_db` does: while the query runs.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import report
from benchmarks.dataset import QUERY, write_sqlite
from benchmarks.processes import Descendants, forget_peak, peak_resident, resident
from benchmarks.service import Service
from svc_jupyter.client import Client


def run(folder: Path, *, quick: bool) -> None:
    """Print the growth for two sizes of result, the second four times the first."""
    rows = []
    for count in (200_000, 800_000) if quick else (1_000_000, 4_000_000):
        place = folder / str(count)
        place.mkdir()
        with Service(place) as service, Client(*service.address) as client:
            file = service.data_dir / "storage" / "orders.db"
            file.parent.mkdir(exist_ok=True)
            write_sqlite(file, count)
            tap = client.db_taps.create("sqlite", "sqlite", db_name=str(file))
            read(client, tap.id, f"{QUERY} LIMIT 10", 10)  # starts the workers' parent
            idle, forked = resident(service.pid), Descendants(service.pid).look()
            forget_peak(service.pid)
            with Descendants(service.pid) as watched:
                size = read(client, tap.id, QUERY, count)
            grown = peak_resident(service.pid) - idle
            worker = max(watched.peaks.values(), default=0)
            together = watched.peak_together - forked
            sizes = (size, idle, grown, worker, together)
            rows.append([f"{count:,} rows", *(report.megabytes(value) for value in sizes)])
    columns = ["megabytes", "Arrow data", "service before", "service growth", "largest worker", "growth of all"]
    report.table("SQLite tap", columns, rows)


def read(client: Client, tap: int, query: str, wanted: int) -> int:
    """Run a query and read its result; return its bytes."""
    command = client.commands.submit("DbTapQueryCommand", db_tap_id=tap, query=query)
    count = size = 0
    for batch in command.wait().result().batches():
        count += batch.num_rows
        size += batch.nbytes
    if count != wanted:
        raise AssertionError(f"{count} rows instead of {wanted}")
    return size
