"""Rows of a result through a real service: pages, orders, filters, statistics, and refusals."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import Any

import httpx
import pytest
from tests.support.service_process import ServiceProcess


@pytest.fixture(scope="session")
def flights(shared_service: ServiceProcess) -> int:
    """A database query that is done, with columns of one name, texts like markup, and large numbers."""
    file = shared_service.data_dir / "storage" / "rows.db"
    with sqlite3.connect(file) as database:
        database.execute("create table flights(origin text, delay real, number integer)")
        rows = [("JFK", 1.5, 2**53 + 1), ("LGA", None, 2), ("costs $5 and <b>$6</b>", -3.25, 3), ("JFK", 40.0, 4)]
        database.executemany("insert into flights values(?, ?, ?)", rows)
    database.close()
    tap = {"name": "rows of flights", "db_type": "sqlite", "db_name": str(file)}
    tap_id = shared_service.http.post("/db_taps", json=tap).json()["id"]
    query = "select origin, delay, number, number as number from flights"
    body = {"command_type": "DbTapQueryCommand", "db_tap_id": tap_id, "query": query}
    command_id = int(shared_service.http.post("/commands", json=body).json()["id"])
    assert shared_service.ended(command_id)["status"] == "done"
    return command_id


def rows_of(http: httpx.Client, command_id: int, **params: Any) -> dict[str, Any]:
    where = {"where": json.dumps(params.pop("where"))} if "where" in params else {}
    answer = http.get(f"/commands/{command_id}/rows", params=params | where)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_rows_are_paged_sorted_filtered_and_described(http: httpx.Client, flights: int) -> None:
    page = rows_of(http, flights, limit=2)
    assert page == {
        "columns": [
            {"name": "origin", "type": "text"},
            {"name": "delay", "type": "number"},
            {"name": "number", "type": "integer"},
            {"name": "number#2", "type": "integer"},
        ],
        "rows": [["JFK", 1.5, "9007199254740993", "9007199254740993"], ["LGA", None, 2, 2]],
        "offset": 0,
        "total": 4,
        "of": 4,
    }
    one = {"columns": "number#2"}
    assert rows_of(http, flights, sort="origin,-delay", offset=1, **one)["rows"] == [["9007199254740993"], [2], [3]]
    found = rows_of(http, flights, where=[["origin", "=", "JFK"], ["delay", ">", 2]], **one)
    assert (found["rows"], found["total"], found["of"]) == ([[4]], 1, 4)
    assert rows_of(http, flights, where=[["number", "=", str(2**53 + 1)]], columns="origin")["rows"] == [["JFK"]]
    assert rows_of(http, flights, search="<B>$6", **one)["rows"] == [[3]]
    assert rows_of(http, flights, where=[["delay", "is_null"]], **one)["rows"] == [[2]]
    of_row = {"row": 1, "column": "origin", "sort": "delay", "where": '[["delay",">",-5]]'}
    assert http.get(f"/commands/{flights}/rows/value", params=of_row).json() == {
        "column": {"name": "origin", "type": "text"},
        "value": "JFK",
        "is_cut": False,
    }


def test_a_column_is_summed_up_over_the_rows_that_meet_the_conditions(http: httpx.Client, flights: int) -> None:
    params = {"where": '[["number","<",10]]', "search": "j"}
    assert http.get(f"/commands/{flights}/columns/number%232/summary", params=params).json() == {
        "name": "number#2",
        "type": "integer",
        "count": 1,
        "nulls": 0,
        "distinct": 1,
        "min": 4,
        "max": 4,
        "mean": 4,
        "histogram": [{"from": 4, "to": 4, "count": 1}],
        "top": None,
    }
    origins = http.get(f"/commands/{flights}/columns/origin/summary").json()
    assert (origins["count"], origins["top"][0]) == (4, {"value": "JFK", "count": 2})
    answer = http.get(f"/commands/{flights}/columns/a%2Fsummary/summary")
    assert answer.json()["error"]["fields"] == {
        "name": "there is no column 'a/summary'; there is origin, delay, number, number#2"
    }


def test_a_chart_has_points_of_the_rows_that_meet_the_conditions(http: httpx.Client, flights: int) -> None:
    params = {"x": "origin", "y": "number#2", "sort": "-delay", "where": '[["number","<",10]]'}
    assert http.get(f"/commands/{flights}/rows/points", params=params).json() == {
        "chart": "bar",
        "x": {"name": "origin", "type": "text"},
        "y": {"name": "number#2", "type": "integer"},
        "points": [
            {"x": "JFK", "y": 4, "low": 4, "high": 4, "count": 1},
            {"x": "costs $5 and <b>$6</b>", "y": 3, "low": 3, "high": 3, "count": 1},
            {"x": "LGA", "y": 2, "low": 2, "high": 2, "count": 1},
        ],
        "is_cut": False,
        "total": 3,
    }
    answer = http.get(f"/commands/{flights}/rows/points", params=params | {"chart": "line"})
    assert answer.status_code == 422
    assert answer.json()["error"]["fields"] == {
        "x": "column origin holds text values; a line needs numbers or times there"
    }


def test_the_lines_of_a_text_are_rows(http: httpx.Client, done: int) -> None:
    page = rows_of(http, done, sort="-line")
    assert (page["columns"], page["rows"]) == ([{"name": "line", "type": "text"}], [["a\tb"], ["1\t2"]])


WRONG_PARAMETERS = {
    ("limit", "1001"): "must be 1000 or less",
    ("offset", "-1"): "must be 0 or more",
    ("sort", "-delays"): "there is no column 'delays'; there is origin, delay, number, number#2",
    ("columns", "['a'"): "is not JSON",
    ("where", "{}"): "must be an array of 100 conditions or fewer",
    ("where", "[" * 20_000): "is not JSON",
    ("where", '[["origin"]]'): 'a condition must be [column, operator, value], as ["origin", "=", "JFK"]',
    ("where", '[["origin","~","a"]]'): ("the operator must be one of =, !=, <, <=, >, >=, contains, is_null, not '~'"),
    ("where", '[["origin","="]]'): "= needs a value",
    ("where", '[["delay",">","much"]]'): "'much' is no number value, as column delay needs it",
}


def test_a_parameter_that_is_wrong_is_named(http: httpx.Client, flights: int) -> None:
    def refusal(name: str, value: str) -> str:
        answer = http.get(f"/commands/{flights}/rows", params={name: value})
        assert answer.status_code == 422, answer.text
        return str(answer.json()["error"]["fields"].get(name))

    assert {(name, value): refusal(name, value) for name, value in WRONG_PARAMETERS} == WRONG_PARAMETERS


def test_rows_are_refused_as_results_are(http: httpx.Client, running: int, failed: int) -> None:
    for command_id in (running, failed, 2**40):
        answers = [http.get(f"/commands/{command_id}/{part}") for part in ("rows", "results")]
        assert answers[0].status_code in (404, 422)
        assert len({(answer.status_code, answer.json()["error"]["error_message"]) for answer in answers}) == 1


def test_a_result_that_is_deleted_in_the_middle_of_paging_is_not_found(shared_service: ServiceProcess) -> None:
    command_id = shared_service.submit("seq 1000")["id"]
    shared_service.ended(command_id)
    assert rows_of(shared_service.http, command_id, limit=1)["total"] == 1000
    shutil.rmtree(shared_service.folder(command_id))
    answer = shared_service.http.get(f"/commands/{command_id}/rows", params={"offset": 1})
    assert (answer.status_code, "no longer on the service's disk" in answer.text) == (404, True)
