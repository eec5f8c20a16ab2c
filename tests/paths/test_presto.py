"""Presto: a query on a real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hadoop import end_clusters_of
from tests.support.hive import end_metastore_of
from tests.support.service_process import ServiceProcess
from tests.types import bound
from tests.types import round_trips as of
from tests.types.tables import PRESTO, check

from svc_jupyter.magics.completion.sql_functions import functions_of
from svc_jupyter.service.db_taps.job import Connection, EngineName
from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.kinds.presto.client import Target
from svc_jupyter.service.kinds.presto.engine import PrestoSqlEngine
from svc_jupyter.sql_tokens import Dialect

pytestmark = [pytest.mark.gate, pytest.mark.timeout(600), pytest.mark.xdist_group("paths-presto")]
_QUERY = """SELECT decimal '1.50' AS price, array[1, NULL] AS numbers, map(array['a'], array[array[true]]) AS flags,
       CAST(row(1, row('x', NULL)) AS row(id integer, inner_row row(name varchar, size double))) AS nested,
       n.name FROM tpch.tiny.nation n WHERE n.nationkey = 7 -- ;"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with a Presto cluster, which the first command starts."""
    for engine in (Engine.HIVE_METASTORE, Engine.PRESTO):
        engine_at_once(engine)
    data_dir = tmp_path_factory.mktemp("presto") / "data"
    service = ServiceProcess(data_dir, kill_grace_seconds=1).start()
    try:
        answer = service.http.put("/clusters/presto", json={"presto_settings": {"enable_presto": True}})
        assert answer.status_code == 200, answer.text
        yield service
    finally:
        service.stop()
        end_commands_of(data_dir)
        end_clusters_of(data_dir)
        end_metastore_of(data_dir)


def test_a_query_starts_the_cluster_and_gives_nested_types(service: ServiceProcess) -> None:
    [row] = table_of(service, f"-- a\nSELECT ';';\n{_QUERY}").to_pylist()
    assert row == {
        "price": Decimal("1.50"),
        "numbers": [1, None],
        "flags": [("a", [True])],
        "nested": {"id": 1, "inner_row": {"name": "x", "size": None}},
        "name": "GERMANY",
    }


@pytest.mark.all  # a cold coordinator plans the two queries of a hundred columns for up to a minute
def test_its_types_become_those_of_the_table_of_types(service: ServiceProcess) -> None:
    check(PRESTO, lambda query: table_of(service, query))


@pytest.mark.all
@of.tables(3)
@given(of.rows(of.PRESTO, 20))
def test_values_come_out_as_they_went_in(service: ServiceProcess, rows: list[of.Row]) -> None:
    of.check(rows, of.PRESTO, table_of(service, of.PRESTO_LITERALS.script(rows, of.PRESTO)))


def test_bound_values_come_back_as_they_went_in(service: ServiceProcess) -> None:
    bound.check(lambda query, bindings: table_of(service, query, bindings=bindings), {})


def test_a_dry_run_gives_the_plan_with_its_rows(service: ServiceProcess) -> None:
    query = "SELECT name FROM tpch.tiny.nation WHERE regionkey = :region"
    lines = table_of(service, query, dry_run=True, bindings={"region": 1}).column("line").to_pylist()
    assert "[name] => [name:varchar(25)]" in lines[0]
    assert "rows: 5 (60B)" in lines[1]


def test_a_query_is_ended_once_there_are_enough_rows(service: ServiceProcess) -> None:
    script = "SELECT 1 AS a; SELECT * FROM tpch.sf1000.lineitem"
    assert table_of(service, script, limit=70_000).num_rows == 70_000


def test_a_failure_names_the_place_and_what_was_meant(service: ServiceProcess) -> None:
    body = {"command_type": "PrestoCommand", "query": "SELECT 1 AS a;\nSELECT *\nFROM tpch.tiny.regions"}
    failed = service.ended(service.http.post("/commands", json=body).json()["id"], 280)
    assert failed["message"].startswith("Table tpch.tiny.regions does not exist")
    assert "\n  query, line 3, column 6: FROM tpch.tiny.regions\n" in failed["message"]
    # The worker gives the lookup up after two seconds; a loaded coordinator may need more.
    nodes = service.http.get("/clusters/presto/state").json()["nodes"]
    [address] = [f"http://{node['private_ip']}:8080" for node in nodes if node["role"] == "master"]
    connection = Connection(
        "presto", "Presto", EngineName.PRESTO, Dialect.PRESTO, address, Target(address, "ann", "s").to_json()
    )
    engine = PrestoSqlEngine(connection)
    assert {"nation", "region"} <= {*engine.known([], ("tpch", "tiny"))}
    assert [*engine.known([("tpch", "tiny", "region")])] == ["regionkey", "name", "comment"]


def test_the_functions_that_completion_offers_are_there(service: ServiceProcess) -> None:
    there = {*table_of(service, "SHOW FUNCTIONS").to_pydict()["Function"]}
    of_its_grammar = "cast coalesce current_user extract grouping if nullif position try"
    assert {*functions_of(Dialect.PRESTO)} - there == {*of_its_grammar.split()}


def table_of(service: ServiceProcess, query: str, **more: object) -> pa.Table:
    answer = service.http.post("/commands", json={"command_type": "PrestoCommand", "query": query, **more})
    assert answer.status_code == 200, answer.text
    record = service.ended(answer.json()["id"], 280)
    assert record["status"] == "done", record["message"]
    accept = {"Accept": "application/vnd.apache.arrow.stream"}
    answer = service.http.get(f"/commands/{record['id']}/results", headers=accept)
    assert answer.status_code == 200, answer.text
    return pa.ipc.open_stream(answer.content).read_all()
