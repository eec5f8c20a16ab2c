"""`HiveCommand` on a real HiveServer2: typed results, sessions, failures, ends."""

from __future__ import annotations

import io
import json
import os
import signal
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pyarrow as pa
import pytest
from tests.support import far_times
from tests.support.engines import engine_at_once
from tests.support.hadoop import SharedHadoop
from tests.support.service_process import wait_until

from svc_jupyter.service.installs.engine import Engine

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("hive-server")]
_SECONDS = 150.0
_LONG = "SELECT count(*) FROM range(1000000000000) WHERE id % 3 = 5"


@pytest.fixture(scope="module")
def hive(hadoop: SharedHadoop) -> SharedHadoop:
    engine_at_once(Engine.HIVE_METASTORE)
    engine_at_once(Engine.SPARK)
    return hadoop


@pytest.fixture
def table(hive: SharedHadoop) -> str:
    return f"t_{uuid4().hex}"


def submit(hive: SharedHadoop, query: str, **fields: Any) -> int:
    response = hive.http.post("/commands", json={"command_type": "HiveCommand", "query": query, **fields})
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def run(hive: SharedHadoop, query: str, **fields: Any) -> dict[str, Any]:
    return hive.ended(submit(hive, query, **fields), _SECONDS)


def rows_of(hive: SharedHadoop, record: dict[str, Any]) -> pa.Table:
    assert record["status"] == "done", record["message"]
    answer = hive.http.get(
        f"/commands/{record['id']}/results", headers={"Accept": "application/vnd.apache.arrow.stream"}
    )
    assert answer.status_code == 200, answer.text
    return pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()


def server_of(hive: SharedHadoop) -> psutil.Process:
    """HiveServer2's process."""
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "-Dproc_hiveserver2" in line and any(str(hive.data_dir) in argument for argument in line):
            return process
    raise LookupError("there is no HiveServer2")


def test_every_type_keeps_its_values(hive: SharedHadoop) -> None:
    query = (
        "SELECT cast(1.50 AS decimal(10,2)) d, date'2020-01-02' dt, timestamp'2020-01-02 03:04:05.678901' ts, "
        "array(1, null) a, map('k', named_struct('x', 1.10BD, 'y', 'q\"z')) m, X'00ff' b, cast(1.5 AS float) f, "
        "true bo, 'ü' s, null n FROM range(2)"
    )
    found = rows_of(hive, run(hive, query))
    inner = pa.struct([("x", pa.decimal128(3, 2)), ("y", pa.string())])
    assert found.schema.types == [
        *(pa.decimal128(10, 2), pa.date32(), pa.timestamp("us"), pa.list_(pa.int32()), pa.map_(pa.string(), inner)),
        *(pa.binary(), pa.float32(), pa.bool_(), pa.string(), pa.null()),
    ]
    row = {
        "d": Decimal("1.50"),
        "dt": date(2020, 1, 2),
        "ts": datetime(2020, 1, 2, 3, 4, 5, 678901),  # noqa: DTZ001
        "a": [1, None],
        "m": [("k", {"x": Decimal("1.10"), "y": 'q"z'})],
        "b": b"\x00\xff",
        "f": 1.5,
        "bo": True,
        "s": "ü",
        "n": None,
    }
    assert found.to_pylist() == [row, row]


NESTED = """
SELECT
  named_struct('a,b', 1, 'c:d', 2, 'e<f>', 3, '`q`"', 4, 'g:int,h', 5) AS odd,
  named_struct('a', 1, 'a', 'x', 'b', named_struct('a', 2.5D, 'a', NULL)) AS twice,
  map(date'2020-01-02', timestamp'2020-01-02 03:04:05.678901') AS by_day,
  map(timestamp'2020-01-02 03:04:05.678901', date'2020-01-02') AS by_time,
  map(X'00ff', true, X'', NULL) AS by_bytes,
  map(1.10BD, named_struct('k k', array(1, NULL), 'k k', map())) AS by_price,
  map(named_struct('x', 1, 'x', 'one'), 'first') AS by_struct,
  map(array(1, 2), array(named_struct('m', map('k', 1)), NULL)) AS by_list,
  map(true, 1, false, NULL) AS by_truth,
  IF(id < 0, named_struct('m', map(1, 'x')), NULL) AS no_struct,
  IF(id < 0, map(1, 2), NULL) AS no_map,
  named_struct('v', parse_json('{"z": [1, null]}'), 'n', 1) AS loose,
  parse_json('[1, "x"]') AS loosest,
  map() AS no_entries
FROM range(1)"""


def test_nested_values_are_whole_whatever_their_fields_and_keys_are(hive: SharedHadoop) -> None:
    [row] = rows_of(hive, run(hive, NESTED)).to_pylist()
    moment = datetime(2020, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001
    assert row == {
        "odd": {"a,b": 1, "c:d": 2, "e<f>": 3, '`q`"': 4, "g:int,h": 5},
        "twice": {"a_0": 1, "a_1": "x", "b": {"a_0": 2.5, "a_1": None}},
        "by_day": [(date(2020, 1, 2), moment)],
        "by_time": [(moment, date(2020, 1, 2))],
        "by_bytes": [(b"\x00\xff", True), (b"", None)],
        "by_price": [(Decimal("1.10"), {"k k_0": [1, None], "k k_1": []})],
        "by_struct": [({"x_0": 1, "x_1": "one"}, "first")],
        "by_list": [([1, 2], [{"m": [("k", 1)]}, None])],
        "by_truth": [(True, 1), (False, None)],
        "no_struct": None,
        "no_map": None,
        "loose": {"v": '{"z":[1,null]}', "n": 1},
        "loosest": '[1,"x"]',
        "no_entries": [],
    }


def test_tables_and_views_are_shown_by_their_names_alone(hive: SharedHadoop, table: str) -> None:
    made = f"CREATE DATABASE {table}; USE {table}; CREATE TABLE a (n int); CREATE VIEW b AS SELECT * FROM a;\n"
    for statement, names in (
        ("SHOW TABLES", ["a", "b"]),
        (f"SHOW TABLES IN {table} LIKE 'a*'", ["a"]),
        ("SHOW VIEWS", ["b"]),
        ("SHOW TABLES LIKE 'none'", []),
    ):
        record = run(hive, f"{made}{statement}")
        assert rows_of(hive, record).to_pydict() == {"tab_name": names}
        made = f"USE {table};\n"


def test_times_that_python_does_not_have_are_text_at_every_depth(hive: SharedHadoop) -> None:
    record = run(hive, far_times.QUERY)
    assert rows_of(hive, record).to_pylist() == far_times.rows(zone="")
    assert json.loads(record["qlog"])["messages"] == [far_times.NOTE]
    assert hive.http.get(f"/commands/{record['id']}/logs").text.count(far_times.NOTE) == 1


def test_statements_share_a_session_and_the_last_table_is_the_result(hive: SharedHadoop, table: str) -> None:
    record = run(
        hive,
        f"CREATE DATABASE {table}; USE {table}; SET x.day=2026-11-21;\n"
        "CREATE TABLE o (id int, note string) PARTITIONED BY (day string) STORED AS AVRO;\n"
        "INSERT INTO o PARTITION (day='${x.day}') VALUES (1, 'a;b'), (2, NULL);\n"
        "SELECT * FROM o ORDER BY id;\nDROP TABLE o; -- gone; for good\nUSE default",
    )
    assert rows_of(hive, record).to_pylist() == [
        {"id": 1, "note": "a;b", "day": "2026-11-21"},
        {"id": 2, "note": None, "day": "2026-11-21"},
    ]
    assert "statement 5 of 8 (line 3, INSERT): done" in hive.logs(record["id"])
    jobs = hive.http.get(f"/commands/{record['id']}/jobs").json()["jobs"]
    assert {job["status"] for job in jobs} == {"SUCCEEDED"}
    assert jobs[0]["name"].startswith("INSERT INTO o PARTITION")


def test_a_short_statement_shows_its_job_as_a_long_one_does(hive: SharedHadoop) -> None:
    for _ in range(5):  # only the first may take long
        record = run(hive, "SELECT count(*) AS n FROM range(10)")
        jobs = hive.http.get(f"/commands/{record['id']}/jobs").json()["jobs"]
        assert {(job["status"], job["progress"]) for job in jobs} == {("SUCCEEDED", 100)}


def test_a_table_is_known_to_the_metastore(hive: SharedHadoop, table: str) -> None:
    assert run(hive, f"CREATE TABLE {table} (a int COMMENT 'first', b array<string>)")["status"] == "done"
    columns = hive.http.get(f"/hive/default/{table}").json()
    assert [(column["name"], column["type"], column["comment"]) for column in columns] == [
        ("a", "int", "first"),
        ("b", "array<string>", None),
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1;\nSELEC 2", "Syntax error at or near 'SELEC'. SQLSTATE: 42601\n  query, line 2, column 1: SELEC 2"),
        ("SELECT a,\n  b FROM nope_nope", "`nope_nope` cannot be found"),
        ("SELECT id, nope FROM range(1)", "`nope` cannot be resolved"),
        ("SELECT assert_true(id < 3) FROM range(5)", "[USER_RAISED_EXCEPTION] '(id < 3L)' is not true!"),
    ],
)
def test_a_failure_is_reported_in_the_engines_words(hive: SharedHadoop, query: str, message: str) -> None:
    record = run(hive, query)
    assert record["status"] == "error"
    assert message.replace("3L", "3") in record["message"].replace("3L", "3")
    assert "cluster default (HiveServer2)" in record["message"]
    assert "\tat " not in record["message"]


def test_a_table_that_is_not_there_is_looked_for_in_its_schema(hive: SharedHadoop) -> None:
    schema = f"s_{uuid4().hex}"
    made = run(hive, f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.visits (a int); SHOW TABLES IN {schema}")
    assert made["status"] == "done", made["message"]
    message = run(hive, f"SELECT 1 FROM {schema}.vists")["message"]
    assert message.splitlines()[0].endswith(f"`{schema}`.`vists` cannot be found. Did you mean visits?")


def test_a_cancellation_ends_the_job(hive: SharedHadoop) -> None:
    command = submit(hive, _LONG)
    jobs = wait_until(lambda: hive.http.get(f"/commands/{command}/jobs").json()["jobs"], "a job", _SECONDS)
    assert hive.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]
    assert hive.ended(command)["status"] == "cancelled"
    address = jobs[0]["url"].partition("/jobs/")[0]
    running = f"{address}/api/v1/applications/{jobs[0]['application_id']}/jobs?status=running"

    def mine() -> bool:
        told = httpx.get(running, timeout=90).json()
        return any(f"svc-command-{command}-" in job.get("description", "") for job in told)

    wait_until(lambda: not mine(), "the end of the job", 60)


def test_a_killed_server_is_reported_and_there_again_for_the_next(hive: SharedHadoop) -> None:
    command = submit(hive, _LONG)
    wait_until(lambda: hive.http.get(f"/commands/{command}/jobs").json()["jobs"], "a job", _SECONDS)
    server = server_of(hive)
    os.kill(server.pid, signal.SIGKILL)
    record = hive.ended(command, 60)
    assert record["status"] == "error"
    assert "the connection to HiveServer2" in record["message"]
    assert rows_of(hive, run(hive, "SELECT 1 AS x")).to_pylist() == [{"x": 1}]
    assert server_of(hive).pid != server.pid


def test_a_server_of_ones_own_is_not_taken_for_one_of_others(hive: SharedHadoop) -> None:
    nodes = hive.http.get("/clusters/default/state").json()["nodes"]
    address = next(node["private_ip"] for node in nodes if node["role"] == "master")
    external = {"hiveserver2": f"hive2://{address}:10000/;auth=noSasl"}
    answer = hive.http.post("/clusters", json={"label": "self", "provider": "external", "external": external})
    assert answer.status_code == 200, answer.text
    record = run(hive, "SELECT 1", label="self")
    assert record["status"] == "error"
    assert "of this service; give that cluster's label to the commands" in record["message"]
    wait_until(lambda: hive.http.delete("/clusters/self").status_code == 200, "it is DOWN")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "give exactly one of query and script_location"),
        ({"query": "SELECT 1", "script_location": "a.sql"}, "give exactly one of query and script_location"),
        ({"query": "SELECT 1", "hive_version": "1.2"}, "the only version is 2.3.10"),
        ({"query": "SELECT 1", "sample_size": -1}, "sample_size"),
        ({"query": "SELECT 1", "sample_size": 1000}, "TABLESAMPLE"),
        ({"query": "SELECT 1", "label": "nowhere"}, "nowhere"),
    ],
)
def test_a_wrong_submission_is_refused(hadoop: SharedHadoop, fields: dict[str, Any], reason: str) -> None:
    response = hadoop.http.post("/commands", json={"command_type": "HiveCommand", **fields})
    assert response.status_code == 422
    assert response.json()["error"]["error_message"].startswith("HiveCommand could not be created")
    assert reason in response.json()["error"]["error_message"]
