"""Rows of real queries, read while they run: with the types of every batch, over a crash, and in flat memory."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.api.paths import ARROW_STREAM
from svc_jupyter.client import Client, Command, CommandCancelled
from svc_jupyter.client.blocking import reading_ahead

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows})"
TYPED = f"""{NUMBERS} SELECT i, i / 7.0 AS x, 'row ' || i AS name, CASE WHEN i % 3 THEN i END AS gaps,
CASE WHEN i % 70000 = 1 THEN 'rare ' || i END AS rare FROM n"""
WIDENED = (
    f"{NUMBERS} SELECT CASE WHEN i > 100000 THEN i / 2.0 ELSE i END AS x, CASE WHEN i > 70000 THEN i END AS y FROM n"
)
ENDLESS = f"{NUMBERS.format(rows=-1)} SELECT i, 'row ' || i AS name FROM n"
LARGE = f"{NUMBERS} SELECT i, hex(zeroblob(1000)) AS filler FROM n"
FLAT_BYTES = 60 * 2**20


@contextmanager
def queries(service: ServiceProcess) -> Iterator[Callable[[str], Command]]:
    """Yield what submits a query on a SQLite file."""
    file: Path = service.data_dir / "storage" / "reading_ahead.db"
    with closing(sqlite3.connect(file)), Client(service.base_url, service.token) as client:
        tap = client.db_taps.create("reading ahead", "sqlite", db_name=str(file))
        yield lambda text: client.commands.submit("DbTapQueryCommand", db_tap_id=tap.id, query=text)
        client.db_taps.delete(tap.id)


@pytest.fixture
def query(shared_service: ServiceProcess) -> Iterator[Callable[[str], Command]]:
    """Submits a query to the shared service."""
    with queries(shared_service) as query:
        yield query


@pytest.fixture
def service(new_service: Callable[..., ServiceProcess]) -> ServiceProcess:
    """A service of the test's own."""
    return new_service(kill_grace_seconds=1).start()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Last rows that come late on a busy machine are waited for, not asked for anew."""
    monkeypatch.setattr(reading_ahead, "STALL_SECONDS", 600)


def downloads(service: ServiceProcess, command: Command) -> int:
    """Return how often the rows of a command were asked for."""
    lines = service.log_file.read_text().splitlines()
    return len([line for line in lines if f"commands/{command.id}/results" in line])


@pytest.mark.parametrize("rows", [0, 1, 200_000])
def test_rows_read_ahead_are_those_of_the_result(shared_service: ServiceProcess, query: Any, rows: int) -> None:
    command = query(TYPED.format(rows=max(rows, 1)) + ("" if rows else " WHERE i < 0"))
    ahead = command.wait(read_ahead=True).result().to_arrow()
    wait_until(lambda: downloads(shared_service, command), "the log's line, written after the answer")
    assert downloads(shared_service, command) == 1
    assert ahead.equals(command.result().to_arrow())
    assert ahead.num_rows == rows
    assert ahead.schema.names == ["i", "x", "name", "gaps", "rare"]


def test_rows_that_are_written_anew_in_wider_types_are_read_as_such(query: Any) -> None:
    command = query(WIDENED.format(rows=200_000))
    ahead = command.wait(read_ahead=True).result().to_arrow()
    assert ahead.equals(command.result().to_arrow())
    assert ahead.schema.types == [pa.float64(), pa.int64()]
    assert ahead.column("y").null_count == 70_000


def test_a_wait_reads_all_rows_though_the_service_was_killed_meanwhile(service: ServiceProcess) -> None:
    found: list[pa.Table] = []
    with queries(service) as query:
        command = query(TYPED.format(rows=1_500_000))
        reading = threading.Thread(target=lambda: found.append(command.wait(read_ahead=True).result().to_arrow()))
        reading.start()
        wait_until((service.folder(command.id) / "1" / "result.arrow.part").exists, "the first rows")
        port = service.base_url.rpartition(":")[2]
        service.kill()
        service.start("--port", port)
        reading.join(60)
    assert [table.num_rows for table in found] == [1_500_000]
    assert found[0].column("i").to_pylist()[-1] == 1_500_000


def test_a_cancellation_ends_the_reading_too(shared_service: ServiceProcess, query: Any) -> None:
    command = query(ENDLESS)
    ended: list[BaseException] = []

    def read() -> None:
        try:
            command.wait(read_ahead=True)
        except CommandCancelled as error:
            ended.append(error)

    reading = threading.Thread(target=read)
    reading.start()
    wait_until(lambda: shared_service.record(command.id)["result_rows"], "rows of the endless query")
    assert command.cancel().kill_succeeded
    reading.join(30)
    assert len(ended) == 1
    wait_until(lambda: "svc-read-ahead" not in {thread.name for thread in threading.enumerate()}, "the reader's end")


def test_a_slow_reader_costs_the_service_no_memory(service: ServiceProcess) -> None:
    headers = {"Accept": ARROW_STREAM, "Accept-Encoding": "identity"}
    with queries(service) as query:
        query("SELECT 1").wait()
        before = peak_memory(service)
        command = query(LARGE.format(rows=100_000))
        call = {"params": {"follow": "true", "wait": 60}, "headers": headers}
        with service.http.stream("GET", f"/commands/{command.id}/results", **call) as response:
            parts = response.iter_bytes()
            size = len(next(parts))
            record = command.wait().record
            assert peak_memory(service) - before < FLAT_BYTES
            size += sum(map(len, parts))
        assert size == record.result_bytes
        assert size > 3 * FLAT_BYTES
        assert peak_memory(service) - before < FLAT_BYTES


def peak_memory(service: ServiceProcess) -> int:
    """Return the most memory that the service ever had, in bytes."""
    status = Path(f"/proc/{service.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
