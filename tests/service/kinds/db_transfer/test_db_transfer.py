"""`DbImportCommand` and `DbExportCommand`: rows of a tap into Hive, and back again."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.support.engines import engine_at_once
from tests.support.hadoop import SharedHadoop

from svc_jupyter.service.installs.engine import Engine

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("hive-server")]
_SECONDS = 280.0


@pytest.fixture(scope="module")
def hive(hadoop: SharedHadoop) -> SharedHadoop:
    engine_at_once(Engine.HIVE_METASTORE)
    engine_at_once(Engine.SPARK)
    return hadoop


@pytest.fixture
def file(hive: SharedHadoop) -> Path:
    path = hive.data_dir / "storage" / f"{uuid4().hex}.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT, price REAL);"
            "INSERT INTO orders VALUES (1, 'a', 1.5), (2, NULL, 2.25), (3, 'c', 3.0);"
            "CREATE TABLE back (id INTEGER PRIMARY KEY, note TEXT, price REAL);"
        )
    database.close()
    return path


@pytest.fixture
def tap(hive: SharedHadoop, file: Path) -> int:
    body = {"name": file.stem, "db_type": "sqlite", "db_name": str(file)}
    return int(hive.http.post("/db_taps", json=body).json()["id"])


def run(hive: SharedHadoop, command_type: str, **fields: Any) -> dict[str, Any]:
    response = hive.http.post("/commands", json={"command_type": command_type, **fields})
    assert response.status_code == 200, response.text
    return hive.ended(response.json()["id"], _SECONDS)


def back(file: Path) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(file)
    try:
        return database.execute("SELECT * FROM back ORDER BY id").fetchall()
    finally:
        database.close()


def test_rows_go_to_hive_and_back(hive: SharedHadoop, file: Path, tap: int) -> None:
    table = f"t_{uuid4().hex}"
    day = {"hive_table": table, "part_spec": "day=2026-11-21"}
    query = "SELECT id, note, price FROM orders WHERE id > 1 AND $CONDITIONS"
    asked = {"db_extract_query": query, "db_table": "orders", "db_parallelism": "2", "db_split_column": "id"}
    imported = run(hive, "DbImportCommand", dbtap_id=str(tap), mode="2", **asked, **day)
    assert (imported["status"], imported["message"]) == ("done", f"2 rows written to Hive table {table}")
    assert imported["outputs"]["stores"][0]["rows"] == 2
    partitions = hive.http.get(f"/hive/default/{table}/partitions").json()["partitions"]
    assert [partition["name"] for partition in partitions] == ["day=2026-11-21"]
    exported = run(hive, "DbExportCommand", dbtap_id=tap, mode="1", db_table="back", schema="main", **day)
    assert exported["message"] == f"2 rows written to main.back of tap {file.stem}"
    assert back(file) == [(2, None, 2.25), (3, "c", 3.0)]
    again = run(hive, "DbExportCommand", dbtap_id=tap, db_table="back", **day)
    assert (again["status"], len(back(file))) == ("error", 2)
    assert "UNIQUE constraint failed: back.id" in again["message"]
    keys = {"db_update_mode": "allowinsert", "db_update_keys": "id"}
    assert run(hive, "DbExportCommand", dbtap_id=tap, db_table="back", **day, **keys)["status"] == "done"


def test_a_table_is_made_in_the_format_that_is_asked_for(hive: SharedHadoop, tap: int) -> None:
    table = f"t_{uuid4().hex}"
    fields = {"dbtap_id": tap, "db_table": "orders", "schema": "main", "db_where": "id > 1", "hive_table": table}
    assert run(hive, "DbImportCommand", hive_serde="ORC", **fields)["status"] == "done"
    described = run(hive, "HiveCommand", query=f"DESCRIBE FORMATTED {table}")
    text = hive.http.get(f"/commands/{described['id']}/results").json()["results"]
    assert "OrcSerde" in text
    counted = run(hive, "HiveCommand", query=f"SELECT count(*) AS n FROM {table}")
    assert hive.http.get(f"/commands/{counted['id']}/results").json()["results"].split() == ["2"]


@pytest.mark.parametrize(
    ("command_type", "fields", "reason"),
    [
        ("DbExportCommand", {"hive_table": "a b", "db_table": "t"}, "hive_table"),
        (
            "DbExportCommand",
            {"hive_table": "a", "db_table": "t", "mode": "2"},
            "mode: 2, the export of a folder, is not",
        ),
        ("DbExportCommand", {"hive_table": "a", "db_table": "t", "db_update_mode": "updateonly"}, "is not supported"),
        (
            "DbImportCommand",
            {"hive_table": "a", "db_table": "t", "hive_serde": "kudu"},
            "Input should be 'parquet', 'orc'",
        ),
        ("DbExportCommand", {"hive_table": "a", "db_table": "t", "partition_spec": "day"}, "partition_spec"),
        ("DbExportCommand", {"hive_table": "a", "db_table": "t", "db_update_keys": "id"}, "together"),
        ("DbImportCommand", {"hive_table": "a", "mode": 2}, "db_extract_query"),
        ("DbImportCommand", {"hive_table": "a"}, "mode 1 imports db_table"),
    ],
)
def test_a_wrong_submission_is_refused(
    hive: SharedHadoop, tap: int, command_type: str, fields: dict[str, Any], reason: str
) -> None:
    response = hive.http.post("/commands", json={"command_type": command_type, "dbtap_id": tap, **fields})
    assert response.status_code == 422
    assert reason in response.json()["error"]["error_message"]
