"""HiveServer2 and Spark Connect that others run: a plain Spark, by its own scripts, to which a service connects."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import psutil
import pyarrow as pa
import pytest
import trustme
from tests.conftest import end_commands_of
from tests.support import far_times, variants
from tests.support.coordinator_proxy import pem_of
from tests.support.engines import connect_client_at_once
from tests.support.file_search import files_below, files_with
from tests.support.plain_spark import PlainSpark
from tests.support.ports import refusing_port
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.tls_front import tls_before

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("external-spark")]
_SECONDS = 120.0
_PASSWORD = "a-secret-of-the-lake"
_TOKEN = "a-token-of-spark-connect"
_LONG = "SELECT count(*) FROM range(0, 1000000000000, 1, 1) WHERE id % 3 = 5"
_KILLED = "Executor killed task"
_SLOW = "SELECT id AS n, reflect('java.lang.Thread', 'sleep', 5000L) AS slept FROM range(1)"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainSpark]:
    theirs = PlainSpark(tmp_path_factory.mktemp("theirs"), token=_TOKEN)
    try:
        yield theirs.start()
    finally:
        theirs.kill()


@pytest.fixture(scope="module")
def service(theirs: PlainSpark, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service with the clusters `lake`, of HiveServer2, and `connect`, of Spark Connect."""
    connect_client_at_once()
    service = ServiceProcess(tmp_path_factory.mktemp("service") / "data", kill_grace_seconds=1).start()
    try:
        attach(service, "lake", **lake_of(theirs), session_properties={"spark.sql.shuffle.partitions": "3"})
        attach(service, "connect", **connect_of(theirs), session_properties={"spark.sql.session.timeZone": "UTC"})
        yield service
    finally:
        service.stop()
        end_commands_of(service.data_dir)


def lake_of(theirs: PlainSpark) -> dict[str, Any]:
    login = {"user": "svc", "password": _PASSWORD}
    return {
        "hiveserver2": f"hive2://127.0.0.1:{theirs.hive_port}/;ssl=true",
        "tls_ca": pem_of(theirs.authority),
        **login,
    }


def connect_of(theirs: PlainSpark, token: str = _TOKEN) -> dict[str, Any]:
    return {"spark_connect": f"sc://127.0.0.1:{theirs.connect_port}/;token={token}"}


def attach(service: ServiceProcess, label: str, **external: Any) -> None:
    answer = service.http.post("/clusters", json={"label": label, "provider": "external", "external": external})
    assert answer.status_code == 200, answer.text
    assert _PASSWORD not in answer.text
    assert _TOKEN not in answer.text


_KINDS = {"connect": "SqlCommand"}


def submit(service: ServiceProcess, query: str, label: str = "lake") -> int:
    return submit_any(service, command_type=_KINDS.get(label, "HiveCommand"), label=label, query=query)


def submit_any(service: ServiceProcess, **body: Any) -> int:
    answer = service.http.post("/commands", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def run(service: ServiceProcess, query: str, label: str = "lake") -> dict[str, Any]:
    return service.ended(submit(service, query, label), _SECONDS)


def run_program(service: ServiceProcess, program: str, **fields: Any) -> dict[str, Any]:
    body = {"command_type": "SparkCommand", "label": "connect", "language": "python", "program": program, **fields}
    return service.ended(submit_any(service, **body), _SECONDS)


def rows_of(service: ServiceProcess, record: dict[str, Any]) -> pa.Table:
    assert record["status"] == "done", record["message"]
    accepted = {"Accept": "application/vnd.apache.arrow.stream"}
    answer = service.http.get(f"/commands/{record['id']}/results", headers=accepted)
    return pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()


def email_of(service: ServiceProcess) -> str:
    return str(service.http.get("/account").json()["email"])


def let_go(service: ServiceProcess, label: str) -> None:
    service.http.put(f"/clusters/{label}/state", json={"state": "terminate"})
    wait_until(lambda: service.http.get(f"/clusters/{label}/state").json()["state"] == "DOWN", "the end", _SECONDS)


def status_of(service: ServiceProcess) -> str:
    metrics = service.http.get("/clusters/lake/live_cluster_health").json()["metrics"]
    assert set(metrics["daemons"]) == {"hs2_server"}
    return str(metrics["daemons"]["hs2_server"]["responsiveness_status"])


def begun(theirs: PlainSpark, service: ServiceProcess, query: str, label: str = "lake") -> int:
    """Submit a command; return once the server has begun a task of it."""
    run(service, "SELECT 1", label)  # the cluster is UP
    before = theirs.log.count("Starting task")
    command = submit(service, query, label)
    wait_until(lambda: theirs.log.count("Starting task") > before, "it is at work", _SECONDS)
    return command


def test_a_start_says_what_it_has_checked_and_statements_have_their_users_name(
    theirs: PlainSpark, service: ServiceProcess
):
    record = run(service, "SELECT current_user() AS who")
    email = email_of(service)
    assert rows_of(service, record).to_pylist() == [{"who": email}]
    log = service.logs(record["id"])
    name = f"127.0.0.1:{theirs.hive_port}"
    for check in (
        f"{name}: reachable, its certificate is trusted",
        f"{name}: authenticated as svc; commands run in the name of their users",
        f"{name}: Spark SQL 4.3.0",
        f"{name}: {email} is the user {email} there",
    ):
        assert check in log
    assert service.http.get("/clusters/lake").json()["external"]["password"] == "<hidden>"


def test_results_are_typed_and_statements_share_a_session(service: ServiceProcess):
    query = (
        "SET spark.sql.shuffle.partitions; CREATE TEMPORARY VIEW v AS SELECT cast(1.50 AS decimal(10,2)) d, "
        "date'2020-01-02' dt, array(1, null) a, 'ü' s; SELECT * FROM v"
    )
    found = rows_of(service, run(service, query))
    assert found.schema.types == [pa.decimal128(10, 2), pa.date32(), pa.list_(pa.int32()), pa.string()]
    assert found.to_pylist() == [{"d": Decimal("1.50"), "dt": date(2020, 1, 2), "a": [1, None], "s": "ü"}]
    [setting] = rows_of(service, run(service, "SET spark.sql.shuffle.partitions")).to_pylist()
    assert setting["value"] == "3"


def test_a_failure_is_reported_in_the_engines_words(service: ServiceProcess):
    record = run(service, "SELECT 1;\nSELECT nope FROM range(1)")
    assert record["status"] == "error"
    assert "`nope` cannot be resolved" in record["message"]
    assert record["message"].endswith("cluster lake (HiveServer2)")


def test_health_comes_from_the_server_and_nodes_are_not_the_services(service: ServiceProcess):
    assert status_of(service) == "UP"
    answer = service.http.post("/clusters/lake/nodes", json={"node_count": 1})
    assert answer.status_code == 422
    assert "cluster lake is external: its nodes are added and removed by those who run it" in answer.text


@pytest.mark.parametrize(
    ("fields", "needs"),
    [
        ({"command_type": "PigCommand", "latin_statements": "a = LOAD 'x';"}, "Hadoop"),
        ({"command_type": "PrestoCommand", "query": "SELECT 1"}, "Presto"),
        ({"command_type": "HadoopCommand", "sub_command": "jar", "sub_command_args": "a.jar"}, "Hadoop"),
    ],
)
def test_a_command_that_needs_another_engine_is_refused(service: ServiceProcess, fields: dict[str, Any], needs: str):
    answer = service.http.post("/commands", json={"label": "lake", **fields})
    assert answer.status_code == 422
    assert f"cluster lake runs Hive; this needs {needs}" in answer.text


@pytest.mark.parametrize("label", ["lake", "connect"])
def test_a_cancellation_ends_the_statement_there(theirs: PlainSpark, service: ServiceProcess, label: str):
    command = begun(theirs, service, _LONG, label)
    killed = theirs.log.count(_KILLED)
    assert service.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]
    assert service.ended(command)["status"] == "cancelled"
    wait_until(lambda: theirs.log.count(_KILLED) > killed, "its end there", _SECONDS)


def test_a_killed_service_finds_its_statements_again(theirs: PlainSpark, service: ServiceProcess):
    commands = [begun(theirs, service, _SLOW, label) for label in ("connect", "lake")]
    service.kill()
    service.start()
    for command in commands:
        record = service.ended(command, _SECONDS)
        assert rows_of(service, record)["n"].to_pylist() == [0]
        assert len(record["attempts"]) == 1


@pytest.mark.parametrize("label", ["lake", "connect"])
def test_secrets_are_in_no_file_and_no_process_list(theirs: PlainSpark, service: ServiceProcess, label: str):
    command = begun(theirs, service, _LONG, label)
    lines = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in lines if _PASSWORD in line or _TOKEN in line]
    assert not [file for secret in (_PASSWORD, _TOKEN) for file in files_with(secret, files_below(service.data_dir))]
    assert service.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]


def test_an_unreachable_or_untrusted_server_is_reported(theirs: PlainSpark, service: ServiceProcess):
    with refusing_port() as port:
        attach(service, "gone", hiveserver2=f"127.0.0.1:{port}")
        message = run(service, "SELECT 1", "gone")["message"]
    assert "127.0.0.1:" in message
    assert message.endswith("does not answer: Connection refused")
    attach(service, "strange", **{**lake_of(theirs), "tls_ca": pem_of(trustme.CA())})
    message = run(service, "SELECT 1", "strange")["message"]
    assert "its certificate is not trusted" in message
    assert message.endswith("give the certificate of its authority as external.tls_ca")
    attach(service, "bare", hiveserver2=f"127.0.0.1:{theirs.hive_port}")
    assert "TLS (ssl=true)" in run(service, "SELECT 1", "bare")["message"]


def test_a_token_that_is_wrong_and_a_server_that_is_none_are_reported(theirs: PlainSpark, service: ServiceProcess):
    attach(service, "wrong", **connect_of(theirs, "another"))
    assert "unauthenticated" in run_program(service, "1", label="wrong")["message"].lower()
    attach(service, "other", spark_connect=f"sc://127.0.0.1:{theirs.hive_port}")
    assert "it is not a server of gRPC" in run_program(service, "1", label="other")["message"]


def test_spark_connect_is_reached_by_tls_with_a_trusted_authority(theirs: PlainSpark, service: ServiceProcess):
    with tls_before(theirs.connect_port, theirs.authority) as port:
        address = f"sc://127.0.0.1:{port}/;use_ssl=true;token={_TOKEN}"
        attach(service, "secure", spark_connect=address, tls_ca=pem_of(theirs.authority))
        record = run_program(service, "spark.range(2)", label="secure")
        assert rows_of(service, record)["id"].to_pylist() == [0, 1]
        assert "reachable, its certificate is trusted" in service.logs(record["id"])
        attach(service, "untrusted", spark_connect=address, tls_ca=pem_of(trustme.CA()))
        message = run_program(service, "1", label="untrusted")["message"]
    assert "its certificate is not trusted" in message


def test_spark_connect_refuses_commands_other_than_sql_and_python(service: ServiceProcess):
    for fields in ({"language": "scala", "program": "1"}, {"cmdline": "spark-submit a.py"}):
        answer = service.http.post("/commands", json={"command_type": "SparkCommand", "label": "connect", **fields})
        assert answer.status_code == 422
        assert "it runs SQL and programs in Python" in answer.text


def test_a_start_says_what_it_has_checked_of_spark_connect(theirs: PlainSpark, service: ServiceProcess):
    let_go(service, "connect")
    record = run(service, "CREATE TEMPORARY VIEW v AS SELECT 5 AS n; SELECT n + 1 AS m FROM v", "connect")
    assert rows_of(service, record).to_pylist() == [{"m": 6}]
    name = f"127.0.0.1:{theirs.connect_port}"
    log = service.logs(record["id"])
    for check in (
        ": reachable",
        ": it accepts the token",
        ": Spark 4.3.0; functions are those of the service's client",
    ):
        assert f"{name}{check}" in log
    metrics = service.http.get("/clusters/connect/live_cluster_health").json()["metrics"]
    assert (metrics["engine"], metrics["daemons"]) == ({"spark": {"status": "UP"}}, {})


def test_results_of_spark_connect_are_typed(service: ServiceProcess):
    query = (
        "SELECT cast(1.50 AS decimal(10,2)) d, date'2020-01-02' dt, timestamp'2020-01-02 03:04:05' ts, "
        "array(1, null) a, map('k', 1) m, X'00ff' b, 'ü' s, interval 1 month i, parse_json('[1]') j FROM range(1)"
    )
    found = rows_of(service, run(service, query, "connect"))
    assert found.schema.types == [
        *(pa.decimal128(10, 2), pa.date32(), pa.timestamp("us", "UTC"), pa.list_(pa.int32())),
        *(pa.map_(pa.string(), pa.field("value", pa.int32(), nullable=False)), pa.binary(), pa.string()),
        *(pa.string(), pa.string()),
    ]
    [row] = found.to_pylist()
    assert (row["d"], row["m"], row["s"], row["j"]) == (Decimal("1.50"), [("k", 1)], "ü", "[1]")
    empty = rows_of(service, run(service, "SELECT 1 AS x WHERE false", "connect"))
    assert (empty.num_rows, empty.schema.names) == (0, ["x"])


def test_times_that_python_does_not_have_are_text_on_spark_connect(service: ServiceProcess):
    record = run(service, far_times.QUERY, "connect")
    assert rows_of(service, record).to_pylist() == far_times.rows(zone="Z")
    assert service.logs(record["id"]).count(far_times.NOTE) == 1


def test_a_dry_run_gives_the_plan_of_either_server(service: ServiceProcess):
    body = {"query": "SELECT id FROM range(7) WHERE id > :least", "bindings": {"least": 3}, "dry_run": True}
    firsts = {}
    for label, kind in (("lake", "HiveCommand"), ("connect", "SqlCommand")):
        record = service.ended(submit_any(service, command_type=kind, label=label, **body), _SECONDS)
        firsts[label] = rows_of(service, record)["line"][0].as_py()
    assert firsts == {"lake": "== Physical Plan ==", "connect": "== Optimized Logical Plan =="}


def test_a_variant_is_its_json_on_spark_connect(service: ServiceProcess):
    assert rows_of(service, run(service, variants.QUERY, "connect")).to_pylist() == [variants.ROW]


def test_programs_in_python_run_on_spark_connect(service: ServiceProcess):
    program = (
        "import sys\nfrom pyspark.sql.functions import udf\ndouble = udf(lambda n: 2 * n, 'long')\n"
        "print(sys.argv[1])\nfrom pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
        "spark.stop()\nspark.range(3).select(double('id').alias('n'))"
    )
    record = run_program(service, program, user_program_arguments="'an argument'")
    assert rows_of(service, record)["n"].to_pylist() == [0, 2, 4]
    assert "an argument" in service.logs(record["id"])
    failed = run_program(service, "x = 1\nspark.table('nope').show()")
    assert failed["message"].startswith("line 2: AnalysisException: [TABLE_OR_VIEW_NOT_FOUND]")
    assert "JVM stacktrace" not in failed["message"] + service.logs(failed["id"])


def test_a_command_does_not_wait_for_a_server_that_never_releases_its_session(service: ServiceProcess):
    endless = "import time\nspark.client.release_session = lambda: time.sleep(10**6)\nprint('done')"
    record = run_program(service, endless)
    assert record["status"] == "done", record["message"]


def test_a_last_expression_of_pandas_is_the_result_on_spark_connect(service: ServiceProcess):
    record = run_program(service, "import pandas as pd\npd.DataFrame({'n': [1, 2]}, index=['a', 'b'])")
    assert rows_of(service, record).to_pylist() == [{"index": "a", "n": 1}, {"index": "b", "n": 2}]


def test_a_failure_of_sql_on_spark_connect_says_the_line(service: ServiceProcess):
    record = run(service, "SELECT 1;\nSELECT nope FROM range(1)", "connect")
    reason, place, _ = record["message"].splitlines()
    assert reason.endswith("`nope` cannot be resolved. Did you mean one of the following? [`id`]. SQLSTATE: 42703")
    assert place == "  query, line 2, column 8: SELECT nope FROM range(1)"


def test_a_server_that_is_restarted_under_a_command_is_reported(theirs: PlainSpark, service: ServiceProcess):
    table = f"t{uuid4().hex}"  # what a killed server leaves of a table would be in the way of another one of its name
    creations = {label: f"CREATE TABLE {table}_{label} AS {_LONG}" for label in ("lake", "connect")}
    commands = {label: begun(theirs, service, query, label) for label, query in creations.items()}
    theirs.kill()
    record = service.ended(commands["lake"], _SECONDS)
    assert record["status"] == "error"
    assert "is lost: " in record["message"]
    assert "whether the statement has taken effect is not known" in record["message"]
    assert len(record["attempts"]) == 1
    wait_until(lambda: status_of(service) == "DOWN", "its health says so", _SECONDS)
    before = len(theirs.log)
    theirs.start()
    record = service.ended(commands["connect"], _SECONDS)
    assert record["status"] == "error"
    assert len(record["attempts"]) == 1
    assert "the server lost the statement" in record["message"]
    assert "Starting task" not in theirs.log[before:]  # it was not sent again
    for label in ("lake", "connect"):
        assert rows_of(service, run(service, "SELECT 1 AS x", label)).to_pylist() == [{"x": 1}]


def test_letting_go_ends_nothing_there(theirs: PlainSpark, service: ServiceProcess):
    let_go(service, "lake")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", theirs.hive_port)) == 0
