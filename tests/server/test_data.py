"""Taps, and what their databases and Hive hold, through the extension."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from tests.server.jupyter_process import JupyterProcess
from tests.support.service_process import ServiceProcess

pytestmark = pytest.mark.xdist_group("jupyter-server")
ODD = ' odd "name" '
PASSWORD = "geheim-47"
_numbers = itertools.count(1)


@pytest.fixture
def file(service: ServiceProcess) -> str:
    """A SQLite database under the service's storage."""
    path = service.data_dir / "storage" / f"data-{next(_numbers)}.db"
    path.parent.mkdir(exist_ok=True)
    quoted = ODD.replace('"', '""')
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE flights (carrier TEXT, delay REAL)")
        connection.execute(f'CREATE TABLE "{quoted}" (a INTEGER)')
    return str(path)


def make_tap(jupyter: JupyterProcess, **fields: Any) -> dict[str, Any]:
    answer = jupyter.http.post("/db_taps", json={"name": f"tap {next(_numbers)}", **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_tap_is_made_listed_changed_and_removed(jupyter: JupyterProcess, file: str) -> None:
    tap = make_tap(jupyter, db_type="sqlite", db_name=file)
    path = f"/db_taps/{tap['id']}"
    assert jupyter.http.get("/db_taps").json()["db_taps"][0] == tap
    assert jupyter.http.put(path, json={"active": False}).json()["active"] is False
    assert jupyter.http.get(path).json()["active"] is False
    assert jupyter.http.delete(path).json()["id"] == tap["id"]
    assert jupyter.http.get(path).status_code == 404


def test_a_catalogue_is_waited_for_and_read_in_parts(jupyter: JupyterProcess, file: str) -> None:
    path = f"/db_taps/{make_tap(jupyter, db_type='sqlite', db_name=file)['id']}"
    catalogue = jupyter.http.get(f"{path}/catalogue", params={"wait": 30}).json()
    assert catalogue["state"] == "ready"
    tables = jupyter.http.get(f"{path}/catalogue/tables").json()["tables"]
    assert {table["name"] for table in tables} == {"flights", ODD}
    schema = catalogue["schemas"][0]["name"]
    columns = jupyter.http.get(f"{path}/catalogue/columns", params={"schema": schema, "table": ODD}).json()["tables"]
    assert [column["name"] for column in columns[0]["columns"]] == ["a"]
    found = jupyter.http.get(f"{path}/catalogue/columns", params={"search": "DEL"}).json()["tables"]
    assert [(table["name"], [one["name"] for one in table["columns"]]) for table in found] == [("flights", ["delay"])]
    assert {table["name"] for table in jupyter.http.get(f"{path}/tables").json()["tables"]} == {"flights", ODD}


def test_a_wrong_field_is_named_and_a_password_is_nowhere(jupyter: JupyterProcess) -> None:
    body = {"name": "wrong", "db_type": "postgresql", "db_passwd": PASSWORD}
    refused = jupyter.http.post("/db_taps", json=body)
    assert refused.status_code == 422
    assert "host" in refused.json()["error"]["fields"]["db_host"]
    tap = make_tap(jupyter, db_type="postgresql", db_host="127.0.0.1", port=1, db_user="ann", db_passwd=PASSWORD)
    unreached = jupyter.http.get(f"/db_taps/{tap['id']}/tables")
    assert unreached.status_code == 422
    assert PASSWORD not in refused.text + str(tap) + unreached.text + jupyter.log_file.read_text()


def test_hive_is_asked_in_the_services_words(jupyter: JupyterProcess) -> None:
    assert jupyter.http.get("/hive_catalogue/tables").json()["tables"] == []
    refused = jupyter.http.get("/hive_catalogue/columns")
    assert (refused.status_code, "table" in refused.json()["error"]["fields"]) == (422, True)
