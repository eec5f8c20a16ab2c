from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from tests.service.db_taps.test_dry_runs import lines_of
from tests.service.db_taps.test_limits import check as check_limit
from tests.support.ports import refusing_port

from svc_jupyter.service.db_taps.connections import TapAttributes, connection_of
from svc_jupyter.service.db_taps.engines.functions import FUNCTIONS
from svc_jupyter.service.db_taps.engines.postgresql import PostgresqlEngine
from svc_jupyter.service.ground.settings import Settings
from svc_jupyter.sql_tokens import Dialect

PASSWORD = "geheim-1"


@pytest.fixture
def flights(postgres_connection) -> str:
    """A table of flights; libpq's connection string."""
    with psycopg.connect(postgres_connection.target) as connection:
        connection.execute("CREATE TABLE flights (id int PRIMARY KEY, carrier text, delay float8)")
        connection.execute("INSERT INTO flights VALUES (1, 'UA', 2.5), (2, 'AA', NULL), (3, NULL, -7.25)")
    return postgres_connection.target


def count(target: str) -> int:
    with psycopg.connect(target) as connection:
        return connection.execute("SELECT count(*) FROM flights").fetchone()[0]


def test_rows_come_typed(query_postgres, flights):
    answer = query_postgres("SELECT * FROM flights ORDER BY id")
    assert answer.types == {"id": "int32", "carrier": "string", "delay": "double"}
    assert answer.rows[1] == {"id": 2, "carrier": "AA", "delay": None}


def test_a_plan_says_how_many_rows_are_expected(query_postgres, flights):
    query_postgres("ANALYZE flights")
    lines = lines_of(query_postgres, "DELETE FROM flights WHERE carrier <> :carrier", bindings={"carrier": "AA"})
    assert lines[0].startswith("Delete on flights  (cost=")
    assert "rows=1 " in lines[1]
    assert count(flights) == 3


@pytest.mark.parametrize(
    "text",
    [
        "SELECT *, ARRAY[[id, 2], [3, 4]] AS id, id::oid AS id FROM flights ORDER BY 1 -- ;",
        "VALUES (1), (2), (3)",
        "(SELECT 1 AS a) UNION ALL SELECT 2 UNION ALL SELECT 3",
        "WITH a AS (SELECT id FROM flights) SELECT * FROM a ORDER BY id DESC",
        "UPDATE flights SET delay = 0 RETURNING id",
        "WITH a AS (UPDATE flights SET delay = 0 RETURNING id) SELECT * FROM a",
    ],
)
def test_the_first_rows(query_postgres, flights, text):
    check_limit(query_postgres, text)


def test_a_query_is_ended_once_there_are_enough(query_postgres, flights):
    script = "UPDATE flights SET delay = 1; SELECT generate_series(1, 100000000000) AS n"
    assert query_postgres(script, limit=70_000).found.num_rows == 70_000
    assert query_postgres("SELECT sum(delay) AS s FROM flights").rows == [{"s": 3.0}]


def test_no_rows_keep_their_types(query_postgres, flights):
    answer = query_postgres("SELECT id, delay, now() AS t, 1.5::numeric(4,2) AS n FROM flights WHERE false")
    assert answer.rows == []
    assert answer.types == {"id": "int32", "delay": "double", "t": "timestamp[us, tz=UTC]", "n": "decimal128(4, 2)"}


def test_every_statement_that_returns_rows_gives_a_table(query_postgres, flights):
    tables = {
        "VALUES (1), (2)": [{"column1": 1}, {"column1": 2}],
        "TABLE flights LIMIT 0": [],
        "(SELECT 1 AS a) UNION (SELECT 1)": [{"a": 1}],
        "SHOW datestyle": [{"DateStyle": "ISO, MDY"}],
        "PREPARE p AS SELECT 5 AS a; EXECUTE p": [{"a": 5}],
        'SELECT \'a\' AS "x""; --", \'\x7f\' AS "é"': [{'x"; --': "a", "é": "\x7f"}],
        'SELECT \'1 day\'::interval AS "x""; --", \'::1\'::inet AS "a b"': [
            {'x"; --': timedelta(days=1), "a b": "::1/128"}
        ],
    }
    assert {text: query_postgres(text).rows for text in tables} == tables


def test_every_change_that_returns_rows_gives_a_table(query_postgres, flights):
    deletion = "WITH gone AS (DELETE FROM flights RETURNING id) SELECT sum(id) AS n FROM gone"
    assert query_postgres(deletion).rows == [{"n": 6}]
    insertion = "INSERT INTO flights VALUES (4) RETURNING id, '10.0.0.1'::inet AS ip"
    assert query_postgres(insertion).rows == [{"id": 4, "ip": "10.0.0.1/32"}]


def test_an_explanation_is_a_table(query_postgres, flights):
    assert "Seq Scan" in query_postgres("EXPLAIN SELECT * FROM flights").rows[0]["QUERY PLAN"]


def test_a_tap_with_a_url_is_asked_as_one_with_a_host(postgres_connection, make_job, run_job, query_postgres, flights):
    query_postgres("CREATE MATERIALIZED VIEW late AS SELECT * FROM flights")
    query_postgres("ANALYZE flights")
    for tap in (postgres_connection, replace(postgres_connection, db_type="url")):
        answer = run_job(make_job(tap, "SELECT current_setting('client_connection_check_interval') AS t"))
        assert answer.rows == [{"t": "5s"}]
        tables = [(table.name, table.type) for table in PostgresqlEngine(tap).tables()]
        assert tables == [("flights", "table"), ("late", "view")]
        assert next(table.rows for table in PostgresqlEngine(tap).catalogue().tables if table.name == "flights") == 3


def test_its_tables_are_known_where_its_functions_cannot_be_listed(postgres_connection, flights, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, Dialect.POSTGRESQL, "SELECT nothing")
    found = PostgresqlEngine(postgres_connection).catalogue()
    assert ([table.name for table in found.tables], found.functions) == (["flights"], [])


def test_the_last_table_of_several_statements_is_the_result(query_postgres, flights):
    answer = query_postgres(
        "CREATE TEMP TABLE t AS SELECT 1 AS a; SELECT 'no' AS b; SELECT a + 1 AS c FROM t; DROP TABLE t"
    )
    assert answer.rows == [{"c": 2}]


def test_without_a_table_it_says_what_was_changed(query_postgres, flights):
    answer = query_postgres("DELETE FROM flights WHERE id < 3; UPDATE flights SET carrier = 'ZZ'")
    assert (answer.table, answer.message) == (None, "2 statements done, 3 rows changed, no table returned")


def test_all_statements_count_or_none(query_postgres, flights):
    answer = query_postgres("DELETE FROM flights;\nSELECT 1/0")
    assert answer.message.startswith("division by zero\n  query, line 2: SELECT 1/0")
    assert count(flights) == 3


def test_a_script_with_its_own_transactions_is_run_as_it_stands(query_postgres, flights):
    query_postgres("BEGIN; DELETE FROM flights WHERE id = 1; COMMIT; BEGIN; DELETE FROM flights; ROLLBACK")
    assert count(flights) == 2


def test_a_table_that_is_not_there_is_looked_for_in_its_schema(query_postgres, flights):
    query_postgres("CREATE SCHEMA shop; CREATE TABLE shop.visits (a int)")
    assert query_postgres("SELECT * FROM shop.vists").failure["did_you_mean"] == ["visits"]
    assert query_postgres("SELECT * FROM shop.flihgts").failure["did_you_mean"] == []


def test_a_single_statement_needs_no_transaction(query_postgres, flights):
    assert query_postgres("VACUUM flights").code == 0


def test_an_error_has_the_servers_words_and_the_place(query_postgres, flights):
    errors = {
        "SELECT carrier\nFROM flights\nWHERE dep_delays > 30": (
            'column "dep_delays" does not exist\n  query, line 3: WHERE dep_delays > 30'
        ),
        "SELECT 'ä',\n nosuch FROM flights": ('column "nosuch" does not exist\n  query, line 2: nosuch FROM flights'),
        "SELEC 1": 'syntax error at or near "SELEC"\n  query, line 1: SELEC 1',
        "SELECT 1;\n\nSELECT * FROM nosuch": (
            'relation "nosuch" does not exist\n  query, line 3: SELECT * FROM nosuch'
        ),
        "SELECT carriers FROM flights": (
            'column "carriers" does not exist. Did you mean carrier?\n  query, line 1: SELECT carriers FROM flights'
        ),
        "SELECT 1;\nSELECT * FROM flihgts": (
            'relation "flihgts" does not exist. Did you mean flights?\n  query, line 2: SELECT * FROM flihgts'
        ),
        "SELECT 1 / (id - 3) FROM flights": "division by zero",
        "INSERT INTO flights VALUES (1)": (
            'duplicate key value violates unique constraint "flights_pkey"\n  Key (id)=(1) already exists.'
        ),
        "SHOW nosuch": 'unrecognized configuration parameter "nosuch"',
        "COPY flights TO STDOUT": (
            "COPY from STDIN or to STDOUT is not available here; use INSERT or SELECT\n"
            "  query, line 1: COPY flights TO STDOUT"
        ),
    }
    answers = {text: query_postgres(text) for text in errors}
    assert {text: (answer.code, answer.message) for text, answer in answers.items()} == {
        text: (1, f"{message}\n  tap warehouse (postgresql)") for text, message in errors.items()
    }
    final = [text for text, answer in answers.items() if answer.error["may_retry"] is not True]
    assert final == ["COPY flights TO STDOUT"]


@pytest.fixture
def refusing_server() -> Iterator[int]:
    """The first messages of PostgreSQL's protocol, by a server that refuses every password; yields its port.

    A double: a server that asks for passwords would need a configuration of its own.
    """
    server = socket.create_server(("127.0.0.1", 0))

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!i", len(body) + 4) + body

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                while struct.unpack("!ii", client.recv(8))[1] in (80877103, 80877104):  # asks for encryption
                    client.sendall(b"N")
                client.recv(4096)
                client.sendall(message(b"R", struct.pack("!i4s", 5, b"salt")))
                client.recv(4096)
                client.sendall(message(b"E", b'SFATAL\0C28P01\0Mpassword authentication failed for user "reader"\0\0'))

    thread = threading.Thread(target=serve)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()


def connect_answer(make_job, run_job, tmp_path: Path, **attributes) -> str:
    tap = TapAttributes("warehouse", "postgresql", db_user="reader", password=PASSWORD, **attributes)
    answer = run_job(make_job(connection_of(tap, Settings(data_dir=tmp_path)), "SELECT 1"))
    assert answer.error["may_retry"] is True
    assert PASSWORD not in answer.message + answer.log
    return answer.message


def test_a_refused_password_is_reported_without_it(make_job, run_job, tmp_path, refusing_server):
    message = connect_answer(make_job, run_job, tmp_path, db_host="127.0.0.1", port=refusing_server)
    assert message == (
        f"cannot connect to 127.0.0.1:{refusing_server}: "
        'password authentication failed for user "reader"\n  tap warehouse (postgresql)'
    )


def test_a_database_that_is_down_is_reported_with_host_and_port(make_job, run_job, tmp_path):
    with refusing_port() as port:
        message = connect_answer(make_job, run_job, tmp_path, db_host="127.0.0.1", port=port)
    assert message == f"cannot connect to 127.0.0.1:{port}: Connection refused\n  tap warehouse (postgresql)"


def test_a_host_that_is_not_known_is_reported(make_job, run_job, tmp_path):
    message = connect_answer(make_job, run_job, tmp_path, db_host="nosuch.invalid", port=1)
    assert message.startswith('cannot connect to nosuch.invalid:1: could not translate host name "nosuch.invalid"')


def test_an_unknown_database_is_reported(make_job, run_job, tmp_path, postgres_connection):
    host = psycopg.conninfo.conninfo_to_dict(postgres_connection.target)["host"]
    tap = TapAttributes("warehouse", "postgresql", db_host=host, db_name="nosuch", db_user="postgres")
    answer = run_job(make_job(connection_of(tap, Settings(data_dir=tmp_path)), "SELECT 1"))
    assert 'database "nosuch" does not exist' in answer.message


def test_a_rule_with_several_statements_in_parentheses_is_one(query_postgres):
    answer = query_postgres(
        "CREATE TABLE acc (id int, bal int); CREATE TABLE log (id int); CREATE TABLE total (bal int);\n"
        "INSERT INTO total VALUES (0);\n"
        "CREATE RULE noted AS ON INSERT TO acc DO ALSO (\n"
        "  INSERT INTO log VALUES (NEW.id); UPDATE total SET bal = bal + NEW.bal\n);\n"
        "INSERT INTO acc VALUES (1, 100);\n"
        "SELECT log.id, bal FROM log, total"
    )
    assert answer.rows == [{"id": 1, "bal": 100}]


def test_a_statement_goes_to_the_server_as_it_is_written(query_postgres):
    tables = {
        "SELECT 1 AS a -- one": [{"a": 1}],
        "-- one\nSELECT 2.50::numeric(5, 2) AS a -- two": [{"a": Decimal("2.50")}],
        "/* /* ; */ ; */ SELECT $x$ ; $$ ; $x$ AS a /* ; */": [{"a": " ; $$ ; "}],
        "SELECT 1; -- one\nSELECT 'b\\' AS a, E'\\';' AS b -- ;": [{"a": "b\\", "b": "';"}],
        "PREPARE p (int, int) AS SELECT $1+$2,$1 AS a; EXECUTE p(1,2)": [{"?column?": 3, "a": 1}],
    }
    assert {text: query_postgres(text).rows for text in tables} == tables


def test_an_error_behind_comments_has_its_place(query_postgres):
    script = "SELECT 1;\n/* a */ -- b\nSELECT nosuch -- c"
    assert query_postgres(script).failure["line"] == 3
    assert query_postgres("SELECT 1;\n-- b\nCOPY x /* c */ FROM STDIN").failure["line"] == 3
    assert query_postgres("SELECT 1;\n-- b\nVACUUM").failure["line"] == 3


def test_of_a_script_with_an_open_quote_nothing_is_run(query_postgres):
    answer = query_postgres("CREATE TABLE t (a int);\nINSERT INTO t VALUES ('1)")
    assert answer.message.startswith("it is uncertain where the statement at line 2 ends")
    assert answer.error["may_retry"] is False
    assert query_postgres("SELECT to_regclass('t')::text AS a").rows == [{"a": None}]
    assert query_postgres("SELECT 'open; SELECT 2").message.startswith("unterminated quoted string")
