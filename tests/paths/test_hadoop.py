"""Hadoop: Pig, Hive, a sensor and nodes of one real cluster, which each test leaves as it was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import given
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hadoop import HadoopService, end_clusters_of, start_cluster, use_hadoop
from tests.support.hive import end_metastore_of
from tests.support.pig import FLIGHTS, put_data, rows_of, succeeded
from tests.support.service_process import wait_until
from tests.types import bound
from tests.types import round_trips as of
from tests.types.tables import HIVE, check

from svc_jupyter.magics.completion.sql_functions import functions_of
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.sql_tokens import Dialect

pytestmark = [pytest.mark.gate, pytest.mark.timeout(600), pytest.mark.xdist_group("paths-hadoop")]
_SECONDS = 280.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HadoopService]:
    """A service whose cluster `default` is UP with one of at most three workers."""
    for engine in (Engine.HADOOP, Engine.PIG, Engine.HIVE_METASTORE, Engine.SPARK):
        engine_at_once(engine)
    service = HadoopService(tmp_path_factory.mktemp("hadoop") / "data", kill_grace_seconds=1).start()
    try:
        put_data(service)
        use_hadoop(service, initial_nodes=1, max_nodes=3)
        start_cluster(service)
        yield service
    finally:
        service.kill()
        end_commands_of(service.data_dir)
        end_clusters_of(service.data_dir)
        end_metastore_of(service.data_dir)


def workers_of(service: HadoopService) -> set[str]:
    nodes = service.http.get("/clusters/default/state").json()["nodes"]
    return {node["private_dns"] for node in nodes if node["role"] == "worker" and node["status"] == "RUNNING"}


def ended(service: HadoopService, answer: Any) -> dict[str, Any]:
    """Wait for the end of a command that a request has made."""
    assert answer.status_code == 200, answer.text
    record = service.ended(answer.json()["id"], _SECONDS)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(record['id'])}"
    return record


def test_a_pig_script_computes_on_yarn_and_gives_typed_rows(service: HadoopService) -> None:
    script = FLIGHTS + "g = GROUP f BY carrier; s = FOREACH g GENERATE group AS carrier, COUNT(f) AS n; DUMP s;"
    record = succeeded(service, script)
    assert sorted(rows_of(service, record["id"]), key=str) == [
        {"carrier": "AA", "n": 1},
        {"carrier": "B6", "n": 1},
        {"carrier": "UA", "n": 3},
    ]


def test_hive_makes_a_partition_that_a_sensor_sees(service: HadoopService) -> None:
    table = f"sales_{uuid4().hex}"
    query = (
        f"CREATE TABLE {table} (item string, n int) PARTITIONED BY (day string) STORED AS PARQUET;\n"
        f"INSERT INTO {table} PARTITION (day='2026-11-21') VALUES (r'a;b\\', 1), (NULL, 2);\n"
        f"-- a\nSELECT item, n, day /* ; */ FROM {table} ORDER BY n -- ;"
    )
    body = {"command_type": "HiveCommand", "query": query}
    record = ended(service, service.http.post("/commands", json=body))
    assert service.text(record["id"]) == "a;b\\\t1\t2026-11-21\r\nNULL\t2\t2026-11-21\r\n"
    seen = {}
    for day in ("2026-11-21", "2026-11-22"):
        sensor = {"schema": "default", "table": table, "columns": [{"column": "day", "values": [day]}]}
        seen[day] = service.http.post("/sensors/partition_sensor", json=sensor).json()
    assert seen == {"2026-11-21": {"status": "true"}, "2026-11-22": {"status": "false"}}


def test_types_of_hive_become_those_of_the_table_of_types(service: HadoopService) -> None:
    check(HIVE, lambda query: table_of(service, query))


@pytest.mark.all
@of.tables(3)
@given(of.rows(of.HIVE, 20))
def test_values_come_out_of_hive_as_they_went_in(service: HadoopService, rows: list[of.Row]) -> None:
    of.check(rows, of.HIVE, table_of(service, of.SPARK_LITERALS.script(rows, of.HIVE)))


def test_values_bound_in_hive_come_back_as_they_went_in(service: HadoopService) -> None:
    point = datetime.fromisoformat("2026-01-31 06:30")  # HiveServer2's times have no zone: those of the session, UTC
    others = {"point": point, "hour": bound.LEFT_OUT}
    bound.check(lambda query, bindings: table_of(service, query, bindings=bindings), others)


def test_a_dry_run_gives_the_plan_of_hive_and_changes_nothing(service: HadoopService) -> None:
    table = f"plans_{uuid4().hex}"
    query = f"-- a\nCREATE TABLE {table} AS SELECT id FROM range(7) WHERE id > :least"
    lines = table_of(service, query, dry_run=True, bindings={"least": 3}).column("line").to_pylist()
    assert lines[0] == "== Optimized Logical Plan =="
    assert table in lines[1]
    lines = table_of(service, "SELECT id FROM range(7)", dry_run=True).column("line").to_pylist()
    assert lines[1] == "Range (0, 7, step=1), Statistics(sizeInBytes=56.0 B, rowCount=7)"
    assert table_of(service, f"SHOW TABLES LIKE '{table}'").num_rows == 0
    body = {"command_type": "HiveCommand", "query": "-- a\nSELECT id FROM\n nowhere", "dry_run": True}
    failed = service.ended(service.http.post("/commands", json=body).json()["id"], _SECONDS)
    assert failed["message"].startswith("[TABLE_OR_VIEW_NOT_FOUND] The table or view `nowhere` cannot be found.")
    assert "query, line 3, column 2: nowhere" in failed["message"]


def test_the_first_rows_of_hive(service: HadoopService) -> None:
    query = "-- a\nSELECT id, array(id) AS id FROM range(100000000000) -- ;"
    assert table_of(service, query, limit=3).to_pydict() == {"id": [[0], [1], [2]]}
    assert table_of(service, "SHOW FUNCTIONS", limit=3).num_rows == 3


def test_the_functions_that_completion_offers_are_there(service: HadoopService) -> None:
    [names] = table_of(service, "SHOW FUNCTIONS").to_pydict().values()
    assert {*functions_of(Dialect.HIVE), *functions_of(Dialect.SPARK)} - {*names} == set()


def table_of(service: HadoopService, query: str, **more: object) -> pa.Table:
    body = {"command_type": "HiveCommand", "query": query, **more}
    record = ended(service, service.http.post("/commands", json=body))
    accept = {"Accept": "application/vnd.apache.arrow.stream"}
    answer = service.http.get(f"/commands/{record['id']}/results", headers=accept)
    assert answer.status_code == 200, answer.text
    return pa.ipc.open_stream(answer.content).read_all()


def test_a_node_is_added_and_removed(service: HadoopService) -> None:
    first = workers_of(service)
    added = ended(service, service.http.post("/clusters/default/nodes", json={"node_count": 1}))
    assert added["message"] == "1 node added"
    (second,) = workers_of(service) - first
    ended(service, service.http.request("DELETE", "/clusters/default/nodes", json={"private_dns": second}))
    assert workers_of(service) == first

    def are_up() -> bool:  # a daemon that takes longer than 2 s to answer counts as DOWN
        health = service.http.get("/clusters/default/live_cluster_health").json()["metrics"]["daemons"]
        return (health["resourcemanager"], health["namenode"]) == ("UP", "UP")

    wait_until(are_up, "the health of both daemons", 60)
