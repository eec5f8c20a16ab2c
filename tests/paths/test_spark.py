"""Spark: an SQL cell in a real kernel, a program and a note, in the sessions of one real cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from tests.integration.kernel_session import KernelSession
from tests.support import spark as on_spark
from tests.support.service_process import ServiceProcess
from tests.types import bound
from tests.types import round_trips as of
from tests.types.tables import SPARK, check

pytestmark = [pytest.mark.gate, pytest.mark.timeout(600), pytest.mark.xdist_group("paths-spark")]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service whose cluster `spark` is UP."""
    with on_spark.spark_service(tmp_path_factory.mktemp("spark") / "data") as service:
        yield service


def test_an_sql_cell_gives_a_typed_frame(service: ServiceProcess, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    places = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    kernel = KernelSession(clean | places | {"SVC_BASE_URL": service.base_url, "SVC_API_TOKEN": service.token})
    try:
        assert kernel.run("%load_ext svc_jupyter").status == "ok"
        cell = kernel.run("%%svc_sql -o found\nSELECT id, CAST(id AS decimal(6,2)) AS price FROM range(3) ORDER BY id")
        assert cell.status == "ok", cell.error
        assert kernel.value("found.astype(str).values.tolist()") == [["0", "0.00"], ["1", "1.00"], ["2", "2.00"]]
    finally:
        kernel.close()


def test_its_types_become_those_of_the_table_of_types(service: ServiceProcess) -> None:
    check(SPARK, lambda query: table_of(service, query))


@pytest.mark.all
@of.tables(3)
@given(of.rows(of.SPARK, 20))
def test_values_come_out_as_they_went_in(service: ServiceProcess, rows: list[of.Row]) -> None:
    of.check(rows, of.SPARK, table_of(service, of.SPARK_LITERALS.script(rows, of.SPARK)))


def test_bound_values_come_back_as_they_went_in(service: ServiceProcess) -> None:
    def query(text: str, bindings: dict[str, object], before: str = "") -> pa.Table:
        record = on_spark.run(service, command_type="SqlCommand", query=before + text, bindings=bindings)
        assert record["status"] == "done", record["message"]
        return on_spark.results(service, record["id"])

    at = datetime(2026, 1, 31, 8, 30, 0, 250_000, tzinfo=UTC)  # in the session's zone
    bound.check(query, {"at": at, "hour": bound.LEFT_OUT})
    [row] = query("SELECT :a AS a", {"a": "\\'"}, "SET spark.sql.parser.escapedStringLiterals=true; ").to_pylist()
    assert row == {"a": "\\'"}
    failed = on_spark.run(service, command_type="SqlCommand", query="SELECT :a AS a")
    assert "give :a a value by bindings" in failed["message"]


def test_a_dry_run_gives_the_plan_with_its_bytes_and_changes_nothing(service: ServiceProcess) -> None:
    def query(text: str, **more: object) -> pa.Table:
        record = on_spark.run(service, command_type="SqlCommand", query=text, **more)
        assert record["status"] == "done", record["message"]
        return on_spark.results(service, record["id"])

    text = "-- a\nCREATE TABLE planned USING parquet AS SELECT id FROM range(7) WHERE id > :least"
    lines = query(text, dry_run=True, bindings={"least": 3}).column("line").to_pylist()
    assert lines[:2] == [
        "== Optimized Logical Plan ==",
        "CreateDataSourceTableAsSelectCommand `spark_catalog`.`default`.`planned`, ErrorIfExists, [id]",
    ]
    lines = query("SELECT id FROM range(7)", dry_run=True).column("line").to_pylist()
    assert lines[1] == "Range (0, 7, step=1), Statistics(sizeInBytes=56.0 B, rowCount=7)"
    assert query("SHOW TABLES LIKE 'planned'").num_rows == 0
    failed = on_spark.run(service, command_type="SqlCommand", query="-- a\nSELECT\n nosuch", dry_run=True)
    assert failed["message"].startswith("[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A column, variable, or function")
    assert failed["message"].endswith(
        "`nosuch` cannot be resolved.  SQLSTATE: 42703\n  query, line 3, column 2: nosuch\n  cluster spark (Spark)"
    )


def test_a_failure_names_the_place_and_what_was_meant(service: ServiceProcess) -> None:
    made = (
        "CREATE TABLE flights USING parquet AS SELECT 1 AS dep_delay; CREATE SCHEMA shop; "
        "CREATE TABLE shop.visits USING parquet AS SELECT 1 AS dep_delay"
    )
    assert on_spark.run(service, command_type="SqlCommand", query=made)["status"] == "done"
    query = "SELECT 1;\nSELECT :a,\n dep_delays FROM flights"
    failed = on_spark.run(service, command_type="SqlCommand", label="spark", query=query, bindings={"a": "longer"})
    failure = failed["outputs"]["failure"]
    assert failure.pop("reason").endswith("with name `dep_delays` cannot be resolved.")
    place = {"source": "query", "line": 3, "column": 2, "text": "dep_delays FROM flights"}
    assert failure == {**place, "target": "cluster spark (Spark)", "did_you_mean": ["dep_delay"], "hint": None}
    for query, end in (
        ("SELECT * FROM flihgts", "cannot be found. Did you mean flights?"),
        ("SELECT * FROM shop.vists", "cannot be found. Did you mean visits?"),
        ("SELECT * FROM shop.flihgts", "SQLSTATE: 42P01"),
    ):
        failed = on_spark.run(service, command_type="SqlCommand", query=query)
        assert f"{end}\n  query, line 1, column 15: {query}\n" in failed["message"]
    failed = on_spark.run(service, sql="SELECT 1;\nSELECT * FROM flihgts", language="sql")
    assert failed["message"].startswith("line 2: [TABLE_OR_VIEW_NOT_FOUND]")
    assert failed["message"].endswith("cannot be found. Did you mean flights?")


def test_the_first_rows(service: ServiceProcess) -> None:
    script = "-- a\nSELECT 1; SELECT id FROM range(100000000000) -- ;"
    record = on_spark.run(service, command_type="SqlCommand", query=script, limit=3)
    assert record["status"] == "done", record["message"]
    assert on_spark.results(service, record["id"]).to_pydict() == {"id": [0, 1, 2]}
    assert "the first 3 rows: there may be more" in record["qlog"]


def table_of(service: ServiceProcess, query: str) -> pa.Table:
    record = on_spark.run(service, sql=query, language="sql")
    assert record["status"] == "done", record["message"]
    return on_spark.results(service, record["id"])


def test_the_table_of_a_programs_last_expression_is_its_result(service: ServiceProcess) -> None:
    program = "print('begun')\nspark.range(3).selectExpr('id', 'id * id AS square').orderBy('id')"
    record = on_spark.run(service, program=program, language="python")
    assert record["status"] == "done", record["message"]
    assert on_spark.results(service, record["id"]).to_pydict() == {"id": [0, 1, 2], "square": [0, 1, 4]}
    assert "begun" in on_spark.log(service, record["id"])


def test_a_note_runs_in_one_session_with_the_values_of_its_forms(service: ServiceProcess) -> None:
    texts = [
        "%pyspark\nspark.range(int(z.input('rows', 5))).createOrReplaceTempView('numbers')",
        "%sql\nselect count(*) as n, '${who=nobody}' as who from numbers",
    ]
    paragraphs = [{"id": f"p{number}", "text": text} for number, text in enumerate(texts, 1)]
    note = service.http.post("/notebooks", json={"name": "gate", "location": "Common", "paragraphs": paragraphs})
    assert note.status_code == 200, note.text
    arguments = {"rows": 4, "who": "ann"}
    record = on_spark.run(service, note_id=note.json()["id"], language="notebook", arguments=arguments)
    assert record["status"] == "done", f"{record['message']}\n{on_spark.log(service, record['id'])}"
    assert on_spark.lines(service, record["id"])[-1].split("\t") == ["4", "ann"]
