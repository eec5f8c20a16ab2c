"""What is in a result or a log never has to fit into the service's memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.support.service_process import ServiceProcess

from svc_jupyter.api.paths import ARROW_STREAM, CSV, PARQUET

pytestmark = pytest.mark.all
GROWTH = 150 << 20
"""Bytes by which an answer may let the service grow."""


class Meter:
    """The service's own memory: the highest so far, over what it was before."""

    def __init__(self, service: ServiceProcess) -> None:
        self._service = service
        self._folder = Path(f"/proc/{service.pid}")
        self._before = self._peak()

    def growth(self) -> int:
        return self._peak() - self._before

    def _peak(self) -> int:
        status = (self._folder / "status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) * 1024


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    running = ServiceProcess(tmp_path_factory.mktemp("bounded")).start()
    command_id = done(running, {"command_type": "ShellCommand", "inline": "echo warm"})
    for form in (ARROW_STREAM, CSV, PARQUET):
        assert running.http.get(f"/commands/{command_id}/results", headers={"Accept": form}).status_code == 200
    yield running
    running.stop()


@pytest.fixture(scope="module")
def meter(service: ServiceProcess) -> Meter:
    """Knows the memory that the service has after a short result in each form."""
    return Meter(service)


@pytest.fixture(scope="module")
def line(service: ServiceProcess) -> int:
    """A command whose output is one line of 400 MB, and so is its log: sparse files."""
    script = "truncate -s 400000000 /proc/self/fd/1; truncate -s 400000000 /proc/self/fd/2"
    return done(service, {"command_type": "ShellCommand", "inline": script})


@pytest.fixture(scope="module")
def tap(service: ServiceProcess) -> int:
    file = service.data_dir / "storage" / "cells.db"
    file.parent.mkdir(exist_ok=True)
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE cells (n)")
    connection.close()
    body = {"name": "cells", "db_type": "sqlite", "db_name": str(file)}
    answer = service.http.post("/db_taps", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


@pytest.fixture(scope="module")
def cell(service: ServiceProcess, tap: int) -> int:
    """A query whose one row has a value of 200 MB."""
    return query(service, tap, "SELECT 1 AS n, zeroblob(200000000) AS cell")


def done(service: ServiceProcess, body: dict[str, Any]) -> int:
    answer = service.http.post("/commands", json=body)
    assert answer.status_code == 200, answer.text
    record = service.ended(answer.json()["id"], 120)
    assert record["status"] == "done", record
    return int(record["id"])


def query(service: ServiceProcess, tap: int, text: str) -> int:
    return done(service, {"command_type": "DbTapQueryCommand", "db_tap_id": tap, "query": text})


def received(service: ServiceProcess, path: str, form: str = "*/*") -> tuple[int, int, bytes]:
    """Return the answer's status, its size, and how it begins."""
    size, begin = 0, b""
    with service.http.stream("GET", path, headers={"Accept": form}) as answer:
        for part in answer.iter_bytes(1 << 20):
            size += len(part)
            begin = begin or part[:2000]
    return answer.status_code, size, begin


def test_a_line_of_400_mb_as_csv(service: ServiceProcess, meter: Meter, line: int):
    status, size, begin = received(service, f"/commands/{line}/results", CSV)
    assert (status, size, begin[:9]) == (200, 400_000_000 + len('"line"\n""\n'), b'"line"\n"\0')
    assert meter.growth() < GROWTH


def test_a_line_of_400_mb_as_arrow(service: ServiceProcess, meter: Meter, line: int):
    status, size, _ = received(service, f"/commands/{line}/results", ARROW_STREAM)
    assert status == 200
    assert size > 400_000_000
    assert meter.growth() < GROWTH


def test_a_line_of_400_mb_is_refused_as_parquet(service: ServiceProcess, meter: Meter, line: int):
    status, _, begin = received(service, f"/commands/{line}/results", PARQUET)
    assert status == 422
    assert json.loads(begin)["error"]["error_message"] == (
        f"line 1 of the result of command {line} is longer than 4 MiB, which is too much for a value in Parquet; "
        "read the result as text, CSV or an Arrow stream"
    )
    assert meter.growth() < GROWTH


@pytest.mark.parametrize("part", ["results", "status_with_results"])
def test_a_line_of_400_mb_is_reported_by_its_place(service: ServiceProcess, meter: Meter, line: int, part: str):
    answer = service.http.get(f"/commands/{line}/{part}").json()
    assert answer["inline"] is False
    assert answer["result_location"]
    assert meter.growth() < GROWTH


@pytest.mark.parametrize("part", ["logs", "events", "error_logs"])
def test_a_log_of_400_mb(service: ServiceProcess, meter: Meter, line: int, part: str):
    path = f"/commands/{line}/{part}"
    if part == "events":  # as JSON each NUL is six characters: the end will do
        with service.http.stream("GET", path, headers={"Last-Event-ID": "380000000"}) as answer:
            size = sum(len(piece) for piece in answer.iter_bytes())
        assert size > 6 * 20_000_000
    else:
        _, size, _ = received(service, path)
        assert size == (0 if part == "error_logs" else 400_000_000)
    assert meter.growth() < GROWTH


@pytest.mark.parametrize("part", ["results", "status_with_results"])
def test_inline_text_that_is_long_as_json(service: ServiceProcess, meter: Meter, part: str):
    command_id = done(service, {"command_type": "ShellCommand", "inline": "head -c 19000000 /dev/zero"})
    status, size, begin = received(service, f"/commands/{command_id}/{part}")
    assert status == 200
    assert size > 6 * 19_000_000
    assert b'"inline":true,"results":"\\u0000' in begin
    assert meter.growth() < GROWTH


class TestACellOf200Mb:
    @pytest.mark.parametrize("form", [CSV, PARQUET])
    def test_is_refused_where_it_would_have_to_be_held(
        self, service: ServiceProcess, meter: Meter, cell: int, form: str
    ):
        status, _, begin = received(service, f"/commands/{cell}/results", form)
        assert status == 422
        told = json.loads(begin)["error"]["error_message"]
        assert told.startswith(f"row 1 of the result of command {cell} takes about ")
        assert told.endswith("read the result as an Arrow stream, or select less of this row")
        assert meter.growth() < GROWTH

    def test_comes_whole_as_arrow(self, service: ServiceProcess, meter: Meter, cell: int):
        status, size, _ = received(service, f"/commands/{cell}/results", ARROW_STREAM)
        assert status == 200
        assert size > 200_000_000
        assert meter.growth() < GROWTH

    def test_is_reported_by_its_place_inline(self, service: ServiceProcess, meter: Meter, cell: int):
        assert service.http.get(f"/commands/{cell}/results").json()["inline"] is False
        assert meter.growth() < GROWTH


def test_a_batch_of_many_large_cells(service: ServiceProcess, meter: Meter, tap: int):
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
    command_id = query(service, tap, f"{rows} SELECT i, replace(hex(zeroblob(1500000)), '0', '\"') AS cell FROM n")
    for form, least in ((CSV, 600_000_000), (PARQUET, 1000)):
        status, size, _ = received(service, f"/commands/{command_id}/results", form)
        assert status == 200
        assert size > least
    assert meter.growth() < GROWTH


def test_a_cell_that_is_too_large_as_text_is_reported_by_its_place(service: ServiceProcess, meter: Meter, tap: int):
    command_id = query(service, tap, "SELECT zeroblob(19000000) AS cell")
    assert service.http.get(f"/commands/{command_id}/results").json()["inline"] is False
    assert meter.growth() < GROWTH


def test_a_long_line_among_others_is_whole_in_arrow(service: ServiceProcess):
    script = "printf 'first\\n'; head -c 5000001 /dev/zero | tr '\\0' x; printf '\\377\\n\\nlast'"
    command_id = done(service, {"command_type": "ShellCommand", "inline": script})
    answer = service.http.get(f"/commands/{command_id}/results", headers={"Accept": ARROW_STREAM})
    lines = pa.ipc.open_stream(answer.content).read_all().column("line").to_pylist()
    assert [line[:10] for line in lines] == ["first", "x" * 10, "", "last"]
    assert lines[1] == "x" * 5_000_001 + "\ufffd"
