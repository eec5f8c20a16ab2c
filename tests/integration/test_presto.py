"""Presto on a real cluster: typed results, catalogues, failures, nodes that come, go and die, a killed service."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import psycopg
import pyarrow as pa
import pytest
import trustme
from psycopg.conninfo import conninfo_to_dict
from tests.conftest import end_commands_of
from tests.support.coordinator_proxy import CoordinatorProxy, pem_of, proxy_before
from tests.support.engines import engine_at_once
from tests.support.file_search import files_below, files_with
from tests.support.hadoop import end_clusters_of
from tests.support.hive import end_metastore_of, make_table, metastore_client
from tests.support.postgres import PostgresCluster
from tests.support.service_process import ServiceProcess, wait_until
from tests.support.socket_bridge import bridge_to

from svc_jupyter.service.installs.engine import Engine
from svc_jupyter.service.runtimes.presto.access import TRINO

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("presto")]
_SECONDS = 250.0
_PASSWORD = "a-secret-of-the-tap"
_HELD = "SELECT sum(n) AS n FROM (SELECT n FROM shop.public.held UNION ALL SELECT n FROM shop.public.held)"
"""Waits in PostgreSQL while the test holds its queries, and takes no processor's time meanwhile."""
_LOCK = 20261121
Hold = Callable[[], AbstractContextManager[None]]
"""Holds the queries `_HELD` during a `with` block."""


@pytest.fixture(scope="module")
def shop(postgres_cluster: PostgresCluster) -> Iterator[dict[str, Any]]:
    """A database with a table, and the attributes of a DB tap for it."""
    with postgres_cluster.database() as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE orders (id int, price numeric(8,2))")
            connection.execute("INSERT INTO orders VALUES (1, 10.50), (2, NULL)")
            lock = f"SELECT pg_advisory_xact_lock_shared({_LOCK})"
            connection.execute(f"CREATE VIEW held AS SELECT 1 AS n FROM ({lock}) AS waits")
        facts = conninfo_to_dict(url)
        with bridge_to(f"{facts['host']}/.s.PGSQL.{facts.get('port') or 5432}") as port:
            where = {"db_type": "postgresql", "db_host": "127.0.0.1", "port": port, "db_name": facts["dbname"]}
            yield {"name": "shop", **where, "db_user": facts.get("user") or "postgres", "db_passwd": _PASSWORD}


@pytest.fixture
def hold(shop: dict[str, Any]) -> Iterator[Hold]:
    with psycopg.connect(
        host="127.0.0.1", port=shop["port"], dbname=shop["db_name"], user=shop["db_user"], autocommit=True
    ) as connection:

        @contextmanager
        def hold() -> Iterator[None]:
            connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
            try:
                yield
            finally:
                connection.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])

        yield hold


@contextmanager
def presto_service(data_dir: Path, shop: dict[str, Any]) -> Iterator[ServiceProcess]:
    """Yield a service whose Presto cluster shows the tap's tables and is UP, since a command has started it."""
    for engine in (Engine.HIVE_METASTORE, Engine.PRESTO):
        engine_at_once(engine)
    service = ServiceProcess(data_dir, kill_grace_seconds=1).start()
    try:
        tap = service.http.post("/db_taps", json=shop).json()["id"]
        presto = {"enable_presto": True, "custom_config": f"catalog.shop.db-tap={tap}"}
        answer = service.http.put("/clusters/presto", json={"presto_settings": presto})
        assert answer.status_code == 200, answer.text
        service.ended(submit(service, "SELECT 1"), _SECONDS)
        yield service
    finally:
        service.stop()
        end_commands_of(data_dir)
        end_clusters_of(data_dir)
        end_metastore_of(data_dir)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, shop: dict[str, Any]) -> Iterator[ServiceProcess]:
    """The service of this module with its cluster, as the last test has left it."""
    with presto_service(tmp_path_factory.mktemp("presto") / "data", shop) as service:
        yield service


@pytest.fixture
def service(shared: ServiceProcess) -> ServiceProcess:
    """The service of this module, where nothing runs and the cluster has one worker, whatever others have done."""
    wait_until(lambda: not unfinished(shared), "what a failed test has left ends", _SECONDS)
    workers = sorted(nodes_of(shared))
    if not workers:
        end_of_node_command(shared, shared.http.post("/clusters/presto/nodes", json={"node_count": 1}))
    for worker in workers[1:]:
        gone = shared.http.request("DELETE", "/clusters/presto/nodes", params={"private_dns": worker})
        end_of_node_command(shared, gone)
    wait_until(lambda: list(nodes_of(shared).values()) == ["RUNNING"], "one worker that takes work", _SECONDS)
    return shared


def unfinished(service: ServiceProcess) -> list[int]:
    """Return the commands that have not ended."""
    listed = service.http.get("/commands", params={"per_page": 100}).json()["commands"]
    return [command["id"] for command in listed if command["status"] in ("waiting", "running")]


def submit(service: ServiceProcess, query: str, **fields: Any) -> int:
    response = service.http.post("/commands", json={"command_type": "PrestoCommand", "query": query, **fields})
    assert response.status_code == 200, response.text
    return int(response.json()["id"])


def run(service: ServiceProcess, query: str, **fields: Any) -> dict[str, Any]:
    return service.ended(submit(service, query, **fields), _SECONDS)


def rows_of(service: ServiceProcess, record: dict[str, Any]) -> pa.Table:
    assert record["status"] == "done", record["message"]
    accept = {"Accept": "application/vnd.apache.arrow.stream"}
    answer = service.http.get(f"/commands/{record['id']}/results", headers=accept)
    assert answer.status_code == 200, answer.text
    return pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()


def jobs_of(service: ServiceProcess, command_id: int) -> list[dict[str, Any]]:
    return list(service.http.get(f"/commands/{command_id}/jobs").json()["jobs"])


def is_at_work(service: ServiceProcess, command_id: int) -> bool:
    """Return whether workers have the command's query."""
    return any(job["status"] == "RUNNING" for job in jobs_of(service, command_id))


def nodes_of(service: ServiceProcess) -> dict[str, str]:
    """Return the status of each worker by its name."""
    nodes = service.http.get("/clusters/presto/state").json()["nodes"]
    return {node["private_dns"]: node["status"] for node in nodes if node["role"] == "worker"}


def servers_of(service: ServiceProcess) -> dict[str, psutil.Process]:
    """Return the Java process of each node by the node's name."""
    beginning = f"-Dconfig={service.data_dir}/clusters/"
    found = {}
    for process in psutil.process_iter(["name", "cmdline"]):
        for argument in process.info["cmdline"] or ():
            if process.info["name"] == "java" and argument.startswith(beginning):
                found[Path(argument).parents[1].name] = process
    return found


def end_of_node_command(service: ServiceProcess, answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    record = service.ended(answer.json()["id"], _SECONDS)
    assert record["status"] == "done", (record["message"], service.http.get(f"/commands/{record['id']}/logs").text)
    return record


def test_a_command_without_a_label_starts_the_only_presto_cluster_and_gets_typed_rows(service: ServiceProcess):
    record = run(service, "SELECT decimal '1.50' AS d, array[1, null] AS a, nationkey FROM tpch.tiny.nation LIMIT 2")
    found = rows_of(service, record)
    assert found.schema.types == [pa.decimal128(3, 2), pa.list_(pa.int32()), pa.int64()]
    assert found.num_rows == 2
    assert found.to_pylist()[0]["d"] == Decimal("1.50")
    [job] = jobs_of(service, record["id"])
    assert (job["status"], job["progress"]) == ("FINISHED", 100)


def test_health_shows_the_engine_and_what_notebooks_talk_to(service: ServiceProcess):
    health = service.http.get("/clusters/presto/live_cluster_health").json()
    metrics = health["metrics"]
    assert metrics["engine"]["presto"]["status"] == "UP"
    assert metrics["daemons"]["zeppelin"]["status"] == "UP"
    assert metrics["daemons"]["hive_metastore"]["responsiveness_status"] == "UP"
    assert float(metrics["engine"]["presto"]["heap"]["usage_percent"]) > 0
    assert health["pages"] == [{"name": "Presto", "url": f"{coordinator_of(service)}/ui/"}]
    assert "Presto</title>" in httpx.get(health["pages"][0]["url"], timeout=90, trust_env=False).text


def test_statements_share_a_session_and_make_tables_of_hive(service: ServiceProcess):
    schema = f"s_{uuid4().hex}"
    record = run(
        service,
        f"CREATE SCHEMA {schema}; USE hive.{schema};\n"
        "CREATE TABLE o (id integer, note varchar, day varchar) WITH (partitioned_by = ARRAY['day']);\n"
        "INSERT INTO o VALUES (1, 'a;b', '2026-11-21'), (2, NULL, '2026-11-22');\n"
        "SELECT * FROM o ORDER BY id; -- done; really",
    )
    assert rows_of(service, record).to_pylist() == [
        {"id": 1, "note": "a;b", "day": "2026-11-21"},
        {"id": 2, "note": None, "day": "2026-11-22"},
    ]
    assert (
        "statement 4 of 5 (line 3, INSERT): 2 rows changed" in service.http.get(f"/commands/{record['id']}/logs").text
    )
    columns = service.http.get(f"/hive/{schema}/o").json()
    assert [column["name"] for column in columns] == ["id", "note", "day"]
    sensor = {"schema": schema, "table": "o", "columns": [{"column": "day", "values": ["2026-11-22"]}]}
    assert service.http.post("/sensors/partition_sensor", json=sensor).json() == {"status": "true"}


_IN_BOTH_ROUNDS = """
WITH v AS (SELECT x, from_unixtime(x, 'Europe/Berlin') AS t FROM (VALUES 1603585800, 1603589400) AS v(x))
SELECT orderkey, t, ARRAY[t, NULL] AS a, MAP(ARRAY[t, t + INTERVAL '1' DAY], ARRAY[ARRAY[t], NULL]) AS m,
       CAST(ROW(t, ROW(x, t)) AS ROW("at" timestamp with time zone, r ROW(x integer, t timestamp with time zone))) AS r,
       CAST(NULL AS ROW("at" timestamp with time zone)) AS "none", 1 AS t
FROM tpch.tiny.orders CROSS JOIN v ORDER BY orderkey DESC, x DESC  -- in this order
"""


def test_instants_of_an_hour_that_came_twice_are_right_at_every_depth(service: ServiceProcess):
    record = run(
        service, f"SET SESSION query_max_run_time = '1m';\n{_IN_BOTH_ROUNDS};\nSELECT 1 AS n; {_IN_BOTH_ROUNDS}"
    )
    found = rows_of(service, record)
    assert found.schema.names == ["orderkey", "t", "a", "m", "r", "none", "t"]
    keys = found.column(0).to_pylist()
    assert (len(keys), keys) == (30_000, sorted(keys, reverse=True))
    second, first = (datetime(2020, 10, 25, hour, 30, tzinfo=UTC) for hour in (1, 0))
    for place, at, x in ((0, second, 1603589400), (1, first, 1603585800), (29_999, first, 1603585800)):
        values = [found.column(number)[place].as_py() for number in range(1, 7)]
        values[2] = dict(values[2])  # a map has no order
        assert values == [
            at,
            [at, None],
            {at: [at], at + timedelta(days=1): None},
            {"at": at, "r": {"x": x, "t": at}},
            None,
            1,
        ]
    jobs = jobs_of(service, record["id"])
    assert {job["status"] for job in jobs} <= {"FINISHED", "CANCELED"}


_FAR_TIMES = """
SELECT DATE '2020-01-31' + n * INTERVAL '9000' YEAR AS d,
       TIMESTAMP '2020-01-31 01:02:03.500' - INTERVAL '2100' YEAR AS t,
       at_timezone(from_unixtime(253402300800, 'UTC'), 'Europe/Berlin') AS z,
       ARRAY[DATE '2020-01-31' + INTERVAL '9000' YEAR, NULL] AS a,
       MAP(ARRAY[DATE '2020-01-31' - INTERVAL '2100' YEAR], ARRAY[from_unixtime(253402300800)]) AS m,
       CAST(ROW(DATE '2020-01-31' - INTERVAL '2100' YEAR, DATE '2020-01-31') AS ROW(d date, near date)) AS r,
       DATE '2020-01-31' AS near
FROM UNNEST(sequence(0, 1)) AS t(n) ORDER BY n
"""


def test_times_that_python_does_not_have_are_text_at_every_depth(service: ServiceProcess):
    record = run(service, _FAR_TIMES)
    near = date(2020, 1, 31)
    assert rows_of(service, record).to_pylist() == [
        {
            "d": day,
            "t": "-0080-01-31T01:02:03.500000",
            "z": "+10000-01-01T00:00:00Z",
            "a": ["+11020-01-31", None],
            "m": [("-0080-01-31", "+10000-01-01T00:00:00")],
            "r": {"d": "-0080-01-31", "near": near},
            "near": near,
        }
        for day in ("2020-01-31", "+11020-01-31")
    ]
    note = (
        "columns d, t, z, a, m and 1 more are text: not all times are within the years 1 to 9999 and a day's 24 hours"
    )
    assert json.loads(record["qlog"])["messages"] == [note]
    assert service.logs(record["id"]).count(note) == 1


@pytest.mark.parametrize(
    "script",
    [
        "START TRANSACTION READ ONLY; SELECT 1 AS n, from_unixtime(1603589400, 'Europe/Berlin') AS t; COMMIT",
        "PREPARE told FROM SELECT from_unixtime(1603589400, 'Europe/Berlin') AS t; EXECUTE told",
    ],
    ids=["transaction", "execute"],
)
def test_an_instant_that_presto_does_not_tell_is_refused_where_the_query_cannot_run_again(
    service: ServiceProcess, script: str
):
    record = run(service, script)
    assert record["status"] == "error"
    assert "column t: the clock showed 2020-10-25 02:30:00.000 Europe/Berlin twice" in record["message"]
    assert "select at_timezone(…, 'UTC')" in record["message"]


def test_a_table_that_hive_made_can_be_read(service: ServiceProcess):
    name = f"t_{uuid4().hex}"
    port = int((service.data_dir / "hive" / "metastore" / "port").read_text())
    with metastore_client("127.0.0.1", port) as client:
        make_table(client, name, {"id": "int", "word": "string"})
        folder = Path(client.get_table("default", name).sd.location.removeprefix("file:"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows").write_text("1\x01one\n2\x01two\n")
    found = rows_of(service, run(service, f"SELECT * FROM {name} ORDER BY id"))
    assert found.to_pylist() == [{"id": 1, "word": "one"}, {"id": 2, "word": "two"}]


def test_a_tap_is_a_catalogue_and_its_password_is_in_private_files_alone(service: ServiceProcess):
    record = run(service, "SELECT id, price FROM shop.public.orders ORDER BY id")
    assert rows_of(service, record).to_pylist() == [{"id": 1, "price": Decimal("10.50")}, {"id": 2, "price": None}]
    holding = files_with(_PASSWORD, files_below(service.data_dir, "shop.properties"))
    assert len(holding) == 2  # the coordinator's and the worker's
    assert {stat.S_IMODE(file.stat().st_mode) for file in holding} == {0o600}
    assert not [pid for pid, process in servers_of(service).items() if _PASSWORD in " ".join(process.cmdline())]
    assert not files_with(_PASSWORD, (file for file in files_below(service.data_dir) if file.parent.name == "logs"))


def test_all_sockets_are_at_addresses_of_this_machine(service: ServiceProcess):
    servers = servers_of(service)
    assert len(servers) == 2
    for process in servers.values():
        listening = [place.laddr.ip for place in process.net_connections("inet") if place.status == "LISTEN"]
        own = [ip.removeprefix("::ffff:") for ip in listening]
        # One more is Java's own for tools of this machine; it turns away whoever comes from elsewhere.
        assert len([ip for ip in own if not ip.startswith("127.")]) <= 1, own


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1;\nSELEC 2", "mismatched input 'SELEC'"),
        (
            "SELECT 1;\nSELECT nope FROM tpch.tiny.nation",
            "'nope' cannot be resolved\n  query, line 2, column 8: SELECT",
        ),
        ("SELECT 1 / (nationkey - nationkey) FROM tpch.tiny.nation", "/ by zero"),
    ],
)
def test_a_failure_is_reported_in_the_engines_words(service: ServiceProcess, query: str, message: str):
    record = run(service, query, label="presto")
    assert record["status"] == "error"
    assert message in record["message"]
    assert record["message"].endswith("cluster presto (Presto)")
    assert "\tat " not in record["message"]


def test_a_cancellation_ends_the_query(service: ServiceProcess, hold: Hold):
    with hold():
        command = submit(service, _HELD)
        wait_until(lambda: is_at_work(service, command), "a query", _SECONDS)
        assert service.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]
        assert service.ended(command)["status"] == "cancelled"
    [job] = jobs_of(service, command)
    assert job["status"] == "CANCELED"
    probe = f"SELECT state FROM system.runtime.queries WHERE query_id = '{job['job_id']}'"
    assert rows_of(service, run(service, probe)).to_pylist() == [{"state": "FAILED"}]


def test_a_killed_service_finds_its_query_again(service: ServiceProcess, hold: Hold):
    with hold():
        command = submit(service, _HELD)
        wait_until(lambda: is_at_work(service, command), "a query", _SECONDS)
        before = {name: process.pid for name, process in servers_of(service).items()}
        service.kill()
        service.start()
    record = service.ended(command, _SECONDS)
    assert rows_of(service, record).num_rows == 1
    assert len(record["attempts"]) == 1
    assert {name: process.pid for name, process in servers_of(service).items()} == before


@pytest.fixture(scope="module")
def guest(shared: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A second service, whose cluster `theirs` is the first one's, and `trino` the same behind a proxy.

    The proxy has TLS and a password, and speaks with Trino's headers: no server of Trino runs on the tests' Java.
    """
    guest = ServiceProcess(tmp_path_factory.mktemp("guest") / "data", kill_grace_seconds=1).start()
    try:
        attach(guest, "theirs", presto_url=coordinator_of(shared), session_properties={"query_priority": "7"})
        yield guest
    finally:
        guest.stop()
        end_commands_of(guest.data_dir)


@pytest.fixture(scope="module")
def trino(shared: ServiceProcess, guest: ServiceProcess) -> Iterator[CoordinatorProxy]:
    authority = trustme.CA()
    with proxy_before(coordinator_of(shared), family=TRINO, authority=authority) as proxy:
        proxy.login = ("svc", _PASSWORD)
        login = {"user": "svc", "password": _PASSWORD, "tls_ca": pem_of(authority)}
        attach(guest, "trino", trino_url=proxy.url, source="etl", **login)
        run(guest, "SELECT 1", label="trino")
        yield proxy


def attach(guest: ServiceProcess, label: str, **external: Any) -> None:
    answer = guest.http.post("/clusters", json={"label": label, "provider": "external", "external": external})
    assert answer.status_code == 200, answer.text
    assert _PASSWORD not in answer.text


def coordinator_of(service: ServiceProcess) -> str:
    nodes = service.http.get("/clusters/presto/state").json()["nodes"]
    return next(f"http://{node['private_ip']}:8080" for node in nodes if node["role"] == "master")


def queries_of(service: ServiceProcess, source: str) -> list[dict[str, Any]]:
    probe = f"SELECT \"user\", state FROM system.runtime.queries WHERE source = '{source}' ORDER BY created DESC"
    return list(rows_of(service, run(service, probe)).to_pylist())


def test_a_cluster_of_others_is_connected_to_and_runs_commands_in_their_users_names(
    service: ServiceProcess, guest: ServiceProcess
):
    record = run(guest, "SHOW SESSION LIKE 'query_priority'", label="theirs")
    assert rows_of(guest, record).to_pylist()[0]["Value"] == "7"
    log = guest.logs(record["id"])
    for check in (": reachable", ": it wants no login", ": Presto 0.287", ": 1 worker"):
        assert check in log
    email = guest.http.get("/account").json()["email"]
    assert {query["user"] for query in queries_of(service, "svc-jupyter")} == {email}
    health = guest.http.get("/clusters/theirs/live_cluster_health").json()
    assert health["pages"] == [{"name": "Presto", "url": f"{coordinator_of(service)}/ui/"}]
    assert health["metrics"]["engine"]["presto"]["status"] == "UP"
    assert "hive_metastore" not in health["metrics"]["daemons"]
    assert guest.http.get("/clusters/theirs").json()["provider"] == "external"
    for answer in (
        guest.http.post("/clusters/theirs/nodes", json={"node_count": 1}),
        guest.http.request("DELETE", "/clusters/theirs/nodes"),
    ):
        assert answer.status_code == 422
        assert "cluster theirs is external: its nodes are added and removed by those" in answer.text


def test_a_cancellation_ends_the_query_on_a_cluster_of_others(
    service: ServiceProcess, guest: ServiceProcess, hold: Hold
):
    with hold():
        command = submit(guest, _HELD, label="theirs")
        wait_until(lambda: is_at_work(guest, command), "a query", _SECONDS)
        assert guest.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]
        assert guest.ended(command)["status"] == "cancelled"
        assert queries_of(service, "svc-jupyter")[0]["state"] == "FAILED"


def test_a_killed_service_finds_its_query_on_a_cluster_of_others_again(
    guest: ServiceProcess, trino: CoordinatorProxy, hold: Hold
):
    with hold():
        command = submit(guest, _HELD, label="trino")
        wait_until(lambda: is_at_work(guest, command), "a query", _SECONDS)
        guest.kill()
        guest.start()
    record = guest.ended(command, _SECONDS)
    assert rows_of(guest, record).num_rows == 1
    assert len(record["attempts"]) == 1
    assert trino.users() == {"svc", guest.http.get("/account").json()["email"]}
    assert {headers.get("X-Trino-Source") for method, _, headers in trino.asked if method == "POST"} == {"etl"}


def test_a_password_of_a_cluster_of_others_is_in_no_file_and_no_process_list(
    guest: ServiceProcess, trino: CoordinatorProxy, hold: Hold
):
    with hold():
        command = submit(guest, _HELD, label="trino")
        wait_until(lambda: jobs_of(guest, command), "a query", _SECONDS)
        lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
        assert not [line for line in lines if _PASSWORD in line]
        assert not files_with(_PASSWORD, files_below(guest.data_dir))
        assert guest.http.get("/clusters/trino").json()["external"]["password"] == "<hidden>"
        assert guest.http.put(f"/commands/{command}", json={"status": "kill"}).json()["kill_succeeded"]


def test_a_coordinator_that_is_restarted_under_a_command_is_reported(
    guest: ServiceProcess, trino: CoordinatorProxy, hold: Hold
):
    with hold():
        command = submit(guest, _HELD, label="trino")
        wait_until(lambda: jobs_of(guest, command), "a query", _SECONDS)
        trino.has_restarted = True
        try:
            record = guest.ended(command, _SECONDS)
        finally:
            trino.has_restarted = False
    assert record["status"] == "error"
    assert "it does not know the query any more: it was started again meanwhile" in record["message"]
    assert record["message"].endswith("cluster trino (Trino)")
    assert run(guest, "SELECT 1", label="trino")["status"] == "done"


def test_a_clone_has_the_password_and_no_other_coordinator_gets_it(guest: ServiceProcess, trino: CoordinatorProxy):
    assert guest.http.post("/clusters/trino/clone", json={"label": "copy"}).status_code == 200
    assert run(guest, "SELECT 1", label="copy")["status"] == "done"
    answer = guest.http.put("/clusters/copy", json={"external": {"trino_url": "https://elsewhere.example.com"}})
    assert answer.status_code == 422
    assert "external.password: trino_url changed: give the password again" in answer.text


def test_letting_go_of_a_cluster_ends_nothing_there(service: ServiceProcess, guest: ServiceProcess):
    guest.http.put("/clusters/theirs/state", json={"state": "terminate"})
    wait_until(lambda: guest.http.get("/clusters/theirs/state").json()["state"] == "DOWN", "the end")
    assert run(service, "SELECT 1")["status"] == "done"


def test_a_cluster_of_ones_own_is_not_taken_for_one_of_others(service: ServiceProcess):
    attach(service, "self", presto_url=coordinator_of(service))
    try:
        record = run(service, "SELECT 1", label="self")
        assert record["status"] == "error"
        assert "of this service; give that cluster's label to the commands" in record["message"]
    finally:  # with two of Presto, a command must name one
        wait_until(lambda: service.http.delete("/clusters/self").status_code == 200, "it is DOWN")


def test_workers_come_and_go_under_a_query_that_ends_right(service: ServiceProcess, hold: Hold):
    [first] = nodes_of(service)
    end_of_node_command(service, service.http.post("/clusters/presto/nodes", json={"node_count": 1}))
    [second] = set(nodes_of(service)) - {first}
    wait_until(lambda: nodes_of(service) == {first: "RUNNING", second: "RUNNING"}, "both take work", _SECONDS)
    with hold():
        command = submit(service, _HELD)
        wait_until(lambda: is_at_work(service, command), "a query", _SECONDS)
        removal = service.http.request("DELETE", "/clusters/presto/nodes", params={"private_dns": first})
        wait_until(lambda: "1 query has work there" in service.logs(removal.json()["id"]), "it leaves", _SECONDS)
    end_of_node_command(service, removal)
    assert set(nodes_of(service)) == {second}
    wait_until(lambda: nodes_of(service) == {second: "RUNNING"}, "the other one takes work", _SECONDS)
    assert rows_of(service, service.ended(command, _SECONDS)).to_pylist() == [{"n": 2}]


def test_a_query_that_loses_its_worker_runs_again(service: ServiceProcess, hold: Hold):
    [worker] = nodes_of(service)
    with hold():
        command = submit(service, _HELD)
        wait_until(lambda: is_at_work(service, command), "work", _SECONDS)
        os.kill(servers_of(service)[worker].pid, signal.SIGKILL)
    assert rows_of(service, service.ended(command, _SECONDS)).num_rows == 1
    wait_until(lambda: nodes_of(service) == {worker: "RUNNING"}, "the worker's return", _SECONDS)


def test_a_removal_that_went_on_after_a_kill_of_the_service_can_be_called_off(service: ServiceProcess, hold: Hold):
    [worker] = nodes_of(service)
    with hold():
        query = submit(service, _HELD)
        wait_until(lambda: is_at_work(service, query), "work", _SECONDS)
        answer = service.http.request("DELETE", "/clusters/presto/nodes", params={"private_dns": worker})
        removal = answer.json()["id"]
        wait_until(lambda: "1 query has work there" in service.logs(removal), "the worker is leaving", _SECONDS)
        service.kill()
        service.start()
        wait_until(lambda: service.logs(removal).count("what runs there may finish") == 2, "it goes on")
        assert service.http.put(f"/commands/{removal}", json={"status": "kill"}).json()["kill_succeeded"]
        assert service.ended(removal, _SECONDS)["status"] == "cancelled"
        assert f"{worker}: put back" in service.logs(removal)
        before = servers_of(service)[worker].pid
        assert service.http.put(f"/commands/{query}", json={"status": "kill"}).json()["kill_succeeded"]
    wait_until(lambda: worker in (now := servers_of(service)) and now[worker].pid != before, "its server", _SECONDS)
    wait_until(lambda: nodes_of(service) == {worker: "RUNNING"}, "the worker's return", _SECONDS)
    wait_until(lambda: run(service, "SELECT 1 AS one")["status"] == "done", "it takes work again", _SECONDS)


def test_without_workers_a_query_says_so(service: ServiceProcess):
    end_of_node_command(service, service.http.request("DELETE", "/clusters/presto/nodes"))
    assert nodes_of(service) == {}
    record = run(service, "SELECT 1")
    assert record["status"] == "error"
    assert "the cluster has no worker that takes work" in record["message"]
    metrics = service.http.get("/clusters/presto/live_cluster_health").json()["metrics"]
    assert metrics["engine"]["presto"]["status"] == "DOWN"


def test_the_end_of_the_cluster_leaves_nothing(tmp_path: Path, shop: dict[str, Any], hold: Hold):
    with presto_service(tmp_path / "data", shop) as service:
        assert len(servers_of(service)) == 2
        assert list(files_below(service.data_dir, "shop.properties"))
        with hold():
            command = submit(service, _HELD)
            wait_until(lambda: is_at_work(service, command), "a query", _SECONDS)
            service.http.put("/clusters/presto/state", json={"state": "terminate"})
            wait_until(
                lambda: service.http.get("/clusters/presto/state").json()["state"] == "DOWN", "the end", _SECONDS
            )
            assert service.ended(command)["status"] in ("error", "cancelled")
        assert servers_of(service) == {}
        assert not list(files_below(service.data_dir, "shop.properties"))


def test_a_setting_that_presto_does_not_know_is_named_when_the_cluster_starts(
    new_service: Callable[..., ServiceProcess],
):
    service = new_service(kill_grace_seconds=1).start()
    try:
        presto = {"enable_presto": True, "custom_config": "query.max-memery=1GB"}
        assert service.http.put("/clusters/presto", json={"presto_settings": presto}).status_code == 200
        record = run(service, "SELECT 1")
        assert record["status"] == "error"
        reason = service.http.get("/clusters/presto/state").json()["terminate_reason"]
        assert "query.max-memery" in reason
        assert "presto_settings.custom_config" in reason
    finally:
        service.stop()
        end_clusters_of(service.data_dir)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "give exactly one of query and script_location"),
        ({"query": "SELECT 1", "script_location": "a.sql"}, "give exactly one of query and script_location"),
        ({"query": "SELECT 1", "label": "default"}, "cluster default runs Hadoop; this needs Presto"),
        ({"query": "SELECT 1", "label": "nowhere"}, "nowhere"),
    ],
)
def test_a_wrong_submission_is_refused(service: ServiceProcess, fields: dict[str, Any], reason: str):
    response = service.http.post("/commands", json={"command_type": "PrestoCommand", **fields})
    assert response.status_code == 422
    assert response.json()["error"]["error_message"].startswith("PrestoCommand could not be created")
    assert reason in response.json()["error"]["error_message"]


def test_a_wrong_setting_is_refused_before_anything_starts(service: ServiceProcess):
    presto = {"enable_presto": True, "custom_config": "discovery.uri=http://elsewhere"}
    response = service.http.put("/clusters/presto", json={"presto_settings": presto})
    assert response.status_code == 422
    assert "discovery.uri is set by the service" in response.json()["error"]["error_message"]
