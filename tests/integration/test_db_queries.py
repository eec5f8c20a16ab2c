"""DB queries end to end: a service that is killed meanwhile, queries that fail, a database that is down."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.locked_sqlite import locked
from tests.support.ports import refusing_port
from tests.support.processes import is_over
from tests.support.service_process import ServiceProcess, wait_until

COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {end}) SELECT count(*) AS c FROM n"


@pytest.fixture
def service(new_service: Callable[..., ServiceProcess]) -> ServiceProcess:
    return new_service(kill_grace_seconds=1).start()


def new_tap(service: ServiceProcess, **fields: Any) -> int:
    response = service.http.post("/db_taps", json={"name": "tap", **fields})
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


@pytest.fixture
def tap(service: ServiceProcess) -> int:
    """A SQLite database in the service's storage."""
    file: Path = service.data_dir / "storage" / "numbers.db"
    sqlite3.connect(file).close()
    return new_tap(service, db_type="sqlite", db_name=str(file))


def query(service: ServiceProcess, tap: int, text: str, **fields: Any) -> int:
    body = {"command_type": "DbTapQueryCommand", "db_tap_id": tap, "query": text, **fields}
    response = service.http.post("/commands", json=body)
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def begun(service: ServiceProcess, command_id: int) -> int:
    """Return the number of the process that runs a query, once it does."""
    return int(wait_until(lambda: service.record(command_id)["pid"], "the begin of the query"))


def test_a_query_goes_on_when_the_service_is_killed(service: ServiceProcess, tap: int):
    with locked(service.data_dir / "storage" / "numbers.db"):
        command_id = query(service, tap, "SELECT count(*) + 42 AS c FROM sqlite_master")
        pid = begun(service, command_id)
        service.kill()
        assert psutil.pid_exists(pid)
        service.start()
    record = service.ended(command_id)
    assert (record["status"], record["pid"], len(record["attempts"])) == ("done", pid, 1)
    assert (record["result_rows"], record["qlog"]) == (
        1, '{"QUERY-SCHEMA": {"-1": [{"ColumnName": "c", "ColumnType": "int64"}]}, "messages": []}',
    )  # fmt: skip
    assert service.text(command_id) == "42\r\n"


@pytest.mark.parametrize("end", [ServiceProcess.kill, ServiceProcess.stop])
def test_a_query_is_cancelled_also_by_the_next_service(
    service: ServiceProcess, tap: int, end: Callable[[ServiceProcess], object]
):
    command_id = query(service, tap, COUNT.format(end=10**12))
    pid = begun(service, command_id)
    end(service)
    assert psutil.pid_exists(pid)
    service.start()
    assert service.http.put(f"/commands/{command_id}", json={"status": "kill"}).json()["kill_succeeded"] is True
    assert is_over(pid)


def test_a_killed_query_is_reported_as_such(service: ServiceProcess, tap: int):
    command_id = query(service, tap, COUNT.format(end=10**12))
    psutil.Process(begun(service, command_id)).kill()
    record = service.ended(command_id)
    assert record["status"] == "error"
    assert record["message"].startswith("the process that ran the query ended before")


def test_a_query_that_fails_shows_the_databases_message_and_the_place(service: ServiceProcess, tap: int):
    command_id = query(service, tap, "SELECT 1;\nSELECT x FROM nowhere")
    record = service.ended(command_id)
    assert record["status"] == "error"
    assert "no such table: nowhere" in record["message"]
    assert "line 2" in record["message"]
    assert "no such table: nowhere" in service.http.get(f"/commands/{command_id}/error_logs").text


def test_a_database_that_is_down_is_named_without_its_password(service: ServiceProcess):
    with refusing_port() as port:
        tap = new_tap(
            service, db_type="postgresql", db_host="127.0.0.1", port=port, db_name="d", db_user="u", db_passwd="hunter2"
        )
        command_id = query(service, tap, "SELECT 1")
        record = service.ended(command_id)
    assert record["status"] == "error"
    for part in ("tap", "127.0.0.1", str(port)):
        assert part in record["message"]
    told = [
        service.http.get(f"/commands/{command_id}").text,
        service.logs(command_id),
        service.http.get(f"/commands/{command_id}/error_logs").text,
        service.http.get(f"/db_taps/{tap}").text,
        service.http.get(f"/db_taps/{tap}/tables").text,
        service.log_file.read_text(),
        *(file.read_text(errors="replace") for file in service.folder(command_id).rglob("*") if file.is_file()),
    ]
    assert not [text for text in told if "hunter2" in text]
