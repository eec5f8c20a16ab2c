"""What only MySQL and MariaDB read differently, on a real MariaDB server."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pymysql
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.service.db_taps.answers import Query
from tests.service.db_taps.test_limits import check as check_limit
from tests.support.ports import free_port
from tests.support.service_process import wait_until
from tests.types import bound
from tests.types import round_trips as of
from tests.types.tables import MARIADB, check

from svc_jupyter.magics.completion.sql_functions import functions_of
from svc_jupyter.service.db_taps.catalogue_file import CATALOGUE_FILE, CatalogueFile
from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.job import Connection, JobKind
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.sql_tokens import Dialect

pytestmark = [pytest.mark.all, pytest.mark.xdist_group("mariadb")]  # it needs a server that test.sh installs

_NO_SUCH_FUNCTION = 1305
_OWN = "--no-defaults", "--user=root"
_ACCOUNTS = "CREATE TABLE acc (id int, bal int); INSERT INTO acc VALUES (1, 10), (2, 20), (3, 100);\n"


@pytest.fixture(scope="module")
def mariadb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server of its own on the loopback, with an empty database `d`."""
    folder = tmp_path_factory.mktemp("mariadb")
    data = f"--datadir={folder / 'data'}"
    subprocess.run(
        [program("mariadb-install-db"), *_OWN, data, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True,
        capture_output=True,
    )
    port = free_port()
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                program("mariadbd"),
                *_OWN,
                data,
                f"--port={port}",
                "--bind-address=127.0.0.1",
                f"--socket={folder / 'socket'}",
                f"--pid-file={folder / 'pid'}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: answers(port) or server.poll() is not None, seconds=60)
        assert server.poll() is None, (folder / "log").read_text()
        yield port
    finally:
        server.terminate()
        server.wait(30)


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    assert found is not None, f"the test needs {name}: test.sh installs it"
    return found


def answers(port: int) -> bool:
    with suppress(pymysql.OperationalError), pymysql.connect(host="127.0.0.1", port=port, user="root") as made:
        made.cursor().execute("CREATE DATABASE IF NOT EXISTS d")
        return True
    return False


@pytest.fixture
def connection(mariadb_port: int, tmp_path: Path) -> Connection:
    """The connection of a tap of the database."""
    url = f"mariadb+pymysql://root@127.0.0.1:{mariadb_port}/d"
    return connection_of(TapAttributes("shop", "url", url=url), Settings(data_dir=tmp_path))


@pytest.fixture
def query(connection: Connection, mariadb_port: int, make_job: Callable, run_job: Callable) -> Iterator[Query]:
    """Runs a query on an empty database."""
    yield lambda text, **more: run_job(make_job(connection, text, **more))
    with pymysql.connect(host="127.0.0.1", port=mariadb_port, user="root") as made:
        made.cursor().execute("DROP DATABASE d")
        made.cursor().execute("CREATE DATABASE d")


def test_two_minus_signs_are_no_comment(query: Query) -> None:
    answer = query(f"{_ACCOUNTS}UPDATE acc SET bal = 100--1 WHERE id = 3;\nSELECT id, bal FROM acc ORDER BY id")
    assert answer.rows == [{"id": 1, "bal": 10}, {"id": 2, "bal": 20}, {"id": 3, "bal": 101}]


def test_comments_with_statements_are_run(query: Query) -> None:
    script = f"/*! {_ACCOUNTS.partition(';')[0]} */;\n/*M!100100 INSERT INTO acc VALUES (4, 40) */;\n"
    assert query(f"{script}SELECT bal /*!50000 + 1 */ AS bal FROM acc /* ; */ -- ;").rows == [{"bal": 41}]


def test_bodies_with_blocks_stay_whole(query: Query) -> None:
    answer = query(
        f"{_ACCOUNTS}CREATE TABLE log (id int); # ;\n"
        "/*!50003 CREATE TRIGGER noted AFTER UPDATE ON acc FOR EACH ROW BEGIN\n"
        "  IF NEW.bal > OLD.bal THEN INSERT INTO log VALUES (NEW.id); END IF;\nEND */;\n"
        "BEGIN NOT ATOMIC UPDATE acc SET bal = bal + 1 WHERE id = 1; SET @a = 1; END;\n"
        "SELECT id, 'it''s; \\'fine\\';' AS text FROM log"
    )
    assert answer.rows == [{"id": 1, "text": "it's; 'fine';"}]


def test_an_open_quote_is_refused_by_the_server(query: Query) -> None:
    assert query("SELECT 'open; SELECT 2").message.startswith("You have an error in your SQL syntax")


def test_its_types_become_those_of_the_table_of_types(query: Query) -> None:
    check(MARIADB, lambda text: query(text).found)


def test_the_functions_that_completion_offers_are_there(mariadb_port: int) -> None:
    def is_missing(name: str) -> bool:
        with made.cursor() as cursor, pytest.raises(pymysql.Error) as raised:
            cursor.execute(f"SELECT {name}(1, 2, 3, 4, 5, no_such_column)")
        return raised.value.args[0] == _NO_SUCH_FUNCTION

    with pymysql.connect(host="127.0.0.1", port=mariadb_port, user="root", database="d") as made:
        assert [name for name in (*functions_of(Dialect.MYSQL), "strftime") if is_missing(name)] == ["strftime"]


def test_the_functions_that_users_have_made_are_in_its_catalogue(
    query: Query, connection: Connection, make_job: Callable, run_job: Callable
) -> None:
    made = "CREATE FUNCTION net(a int) RETURNS int DETERMINISTIC RETURN a; CREATE PROCEDURE p() DO 1"
    assert query(f"CREATE TABLE t (a int); {made}").error is None
    job = make_job(connection, kind=JobKind.CATALOGUE)
    assert run_job(job).error is None
    file = CatalogueFile(job.folder / CATALOGUE_FILE)
    assert (file.facts().default_schema, file.functions(10)) == ("d", [("d", "net", "function")])


def test_columns_without_a_value_have_their_type(query: Query) -> None:
    columns = "a BIGINT, b DECIMAL(40,2), c DOUBLE, d DATE, e DATETIME(3), f TIME, g BIGINT UNSIGNED, h BOOLEAN"
    types = {
        "a": "int64",
        "b": "decimal256(42, 2)",
        "c": "double",
        "d": "date32[day]",
        "e": "timestamp[us]",
        "f": "duration[us]",
        "g": "int64",
        "h": "int64",
    }
    answer = query(f"CREATE TABLE empty ({columns}); SELECT * FROM empty")
    assert (answer.rows, answer.types) == ([], types)
    answer = query("INSERT INTO empty () VALUES (); SELECT * FROM empty")
    assert (answer.rows, answer.types) == ([dict.fromkeys(types)], types)
    answer = query(f"UPDATE empty SET a = -1, b = 0.5, g = {2**64 - 1}; SELECT a, b, g FROM empty")
    assert answer.rows == [{"a": -1, "b": Decimal("0.50"), "g": Decimal(2**64 - 1)}]
    assert answer.types["b"] == types["b"]


TYPES = {
    "BIGINT": of.INTEGERS,
    "BIGINT UNSIGNED": st.integers(0, 2**64 - 1),
    "DECIMAL(38,10)": of.decimals(28, 10),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),  # without -0.0
    "LONGTEXT CHARACTER SET utf8mb4": of.TEXTS,
    "BLOB": of.BYTES,
    "DATE": st.dates(),
    "DATETIME(6)": of.LOCAL_TIMES,
    "TIME(6)": st.timedeltas(timedelta(hours=-838), timedelta(hours=838)),
}


@of.tables(30)
@given(of.rows(TYPES))
def test_values_come_out_as_they_went_in(query: Query, mariadb_port: int, rows: list[of.Row]) -> None:
    with pymysql.connect(host="127.0.0.1", port=mariadb_port, user="root", database="d", charset="utf8mb4") as made:
        cursor = made.cursor()
        cursor.execute("DROP TABLE IF EXISTS t")
        cursor.execute(f"CREATE TABLE t ({of.declared(TYPES)})")
        cursor.executemany(f"INSERT INTO t VALUES (%s{', %s' * len(TYPES)})", of.numbered(rows))
        made.commit()
    of.check(rows, TYPES, query("SELECT * FROM t ORDER BY n").found)


def test_bound_values_come_back_as_they_went_in(query: Query) -> None:
    # The driver writes times as strings, which become times beside a column of them.
    others = {"yes": 1, "day": "2026-01-31", "at": "2026-01-31 08:30:00.250000", "hour": "08:30:00"}
    bound.check(lambda text, bindings: query(text, bindings=bindings).found, others | {"point": bound.LEFT_OUT})


def test_a_plan_is_its_table(query: Query) -> None:
    query(_ACCOUNTS)
    answer = query("DELETE FROM acc WHERE id = :id", dry_run=True, bindings={"id": 1})
    assert [(row["table"], row["rows"]) for row in answer.rows] == [("acc", "3")]
    assert query("(ANALYZE) DELETE FROM acc", dry_run=True).error
    assert query("SELECT count(*) AS n FROM acc").rows == [{"n": 3}]
    refused = query("CREATE TABLE u AS SELECT 1 AS a", dry_run=True)
    assert refused.failure["reason"].endswith("not of CREATE; nothing was run")


def test_the_first_rows(query: Query) -> None:
    query(_ACCOUNTS)
    check_limit(query, "SELECT * FROM acc ORDER BY id")
    check_limit(query, "SELECT id FROM acc UNION ALL SELECT bal FROM acc")
    check_limit(query, "(SELECT id FROM acc LIMIT 3)")
    assert query("SELECT seq FROM seq_1_to_1000000000000", limit=70_000).found.num_rows == 70_000


def test_only_results_are_cut(query: Query) -> None:
    script = f"{_ACCOUNTS}CREATE TABLE u AS SELECT * FROM acc; INSERT INTO u SELECT * FROM acc; SELECT * FROM u"
    assert query(script, limit=1).found.num_rows == 1
    assert query("SELECT count(*) AS n FROM u").rows == [{"n": 6}]


def test_a_point_in_time_is_no_value_of_mysql(query: Query) -> None:
    answer = query("SELECT :a", bindings={"a": {"type": "timestamp", "value": "2026-01-31T08:30:00+02:00"}})
    assert answer.failure["reason"] == (
        "2026-01-31 08:30:00+02:00: this database's times have no zone; give it in the zone of its column, without one"
    )
