"""What is said of a script before it runs: nothing where its database takes it, else the place of the fault.

The statements of SQLite, DuckDB and PostgreSQL are really prepared there; those of the others are of their manuals.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing

import duckdb
import psycopg

from svc_jupyter.service.catalogues.checks import problems
from svc_jupyter.service.db_taps.catalogue_file import CatalogueFile, CatalogueTable, DatabaseTables, write_catalogue
from svc_jupyter.sql_tokens import Dialect

FLIGHTS = ("origin", "dest", "dep_delay", "Odd Name", "day")
CARRIERS = ("code", "name")
TABLES = (
    'CREATE TABLE flights (origin text, dest text, dep_delay int, "Odd Name" text, day date)',
    "CREATE TABLE carriers (code text, name text)",
)
ARCHIVE = ("CREATE SCHEMA archive", "CREATE TABLE archive.plans (id int)")


def catalogue(folder, default_schema: str) -> CatalogueFile:
    """Return a catalogue with the tables, one more there, and one in another schema."""
    columns = {"flights": FLIGHTS, "carriers": CARRIERS, "mixed": ("Cased1",), "plans": ("id",)}
    tables = [
        CatalogueTable(
            "archive" if name == "plans" else default_schema, name, "table", None, [(c, "text") for c in named]
        )
        for name, named in columns.items()
    ]
    write_catalogue(folder / "catalogue.db", DatabaseTables(default_schema, tables))
    return CatalogueFile(folder / "catalogue.db")


ANYWHERE = """\
SELECT f.origin, c.name FROM flights f JOIN carriers AS c ON f.dest = c.code WHERE dep_delay > 10 ORDER BY 1
SELECT FLIGHTS.ORIGIN AS o, count(*) AS n FROM Flights GROUP BY origin HAVING count(*) > 1 ORDER BY n, o LIMIT 5
WITH late AS (SELECT * FROM flights WHERE dep_delay > 0) SELECT origin, day FROM late JOIN carriers ON code = dest
WITH a(x, y) AS (SELECT origin, dest FROM flights), b AS (SELECT x AS z FROM a) SELECT b.z FROM b
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n
WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a UNION SELECT 2) SELECT x FROM b ORDER BY x
SELECT name FROM carriers WHERE EXISTS (SELECT 1 FROM flights WHERE dest = code AND carriers.name = origin)
SELECT (SELECT max(dep_delay) FROM flights f WHERE f.dest = c.code) AS worst FROM carriers c ORDER BY worst
SELECT s.n FROM (SELECT dest, count(*) AS n FROM flights GROUP BY dest) AS s WHERE s.dest IN (SELECT code FROM carriers)
SELECT origin FROM flights UNION ALL SELECT name FROM carriers ORDER BY origin
SELECT origin, rank() OVER w FROM flights WINDOW w AS (PARTITION BY dest ORDER BY dep_delay)
SELECT sum(dep_delay) OVER (PARTITION BY origin ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM flights
SELECT CASE WHEN dep_delay > 5 THEN 'late' ELSE NULL END AS state FROM flights
SELECT dest FROM flights JOIN (SELECT dest, max(day) AS day FROM flights GROUP BY dest) x USING (dest)
SELECT origin FROM flights NATURAL JOIN (SELECT dest FROM flights) d WHERE current_date IS NOT NULL
SELECT "Odd Name", f."Odd Name" FROM flights AS f
SELECT origin -- , FROM elsewhere\tFROM flights
INSERT INTO carriers (code, name) SELECT origin, dest FROM flights
INSERT INTO carriers VALUES ('a', 'b'), ('c', 'd')
UPDATE flights SET dep_delay = dep_delay + 1, dest = (SELECT max(code) FROM carriers WHERE name = origin)
DELETE FROM flights WHERE origin IN (SELECT code FROM carriers WHERE code = dest) OR dep_delay IS NULL
CREATE TABLE more AS SELECT origin AS o FROM flights
"""
OF = {
    Dialect.SQLITE: """
SELECT rowid, f.rowid, "no such text" FROM flights f
SELECT name, sql FROM sqlite_master WHERE type = 'table'
SELECT value FROM json_each('[1]')
SELECT main.flights.origin FROM main.flights
INSERT INTO carriers (code) VALUES ('a') ON CONFLICT DO UPDATE SET name = excluded.name RETURNING code
REPLACE INTO carriers VALUES ('a', 'b')
SELECT origin AS o FROM flights WHERE o GLOB 'J*' AND `dest` NOT NULL
SELECT [origin] FROM flights WHERE dest = :dest
DELETE FROM flights WHERE flights.rowid = 1
UPDATE flights SET dest = name FROM carriers WHERE code = dest
SELECT 1 FROM (SELECT 1 AS b) WHERE EXISTS (SELECT name FROM carriers)
VALUES (1), (2)
PRAGMA table_info(flights)
EXPLAIN SELECT origin FROM flights
""",
    Dialect.DUCKDB: """
FROM flights SELECT origin
SELECT origin, FROM flights
SELECT * EXCLUDE (day) REPLACE (dep_delay / 60 AS dep_delay) FROM flights
SELECT origin AS o, o || 'x' AS p FROM flights WHERE o = 'a' QUALIFY row_number() OVER (PARTITION BY p) = 1
SELECT [n * 2 for n in [1, 2] if n > 1] AS l, list_transform([1], lambda k: k + 1), {'a': dep_delay} AS s FROM flights
SELECT COLUMNS('d.*') FROM flights
SELECT f.s.a.b, f.s FROM (SELECT {'a': {'b': dep_delay}} AS s FROM flights) f
CREATE MACRO late(x) AS (SELECT max(dep_delay) FROM flights WHERE origin = x)
SELECT f.s.a FROM (SELECT {'a': dep_delay} AS s FROM flights) f
SELECT unnest([1, 2]) AS u, flights FROM flights
SELECT r.range FROM range(3) r
SELECT * FROM (PIVOT flights ON origin USING sum(dep_delay)) ORDER BY dest
SELECT origin, count() FILTER (dest = 'a') FROM flights GROUP BY ALL ORDER BY ALL
SELECT f.origin FROM flights f ASOF JOIN flights g ON f.day >= g.day
SELECT arg_max(origin, dep_delay), date_trunc('month', day), day::timestamp FROM flights GROUP BY ALL
SELECT table_name FROM information_schema.tables
SELECT * FROM duckdb_settings() WHERE name = 'x'
SUMMARIZE flights
""",
    Dialect.POSTGRESQL: """
SELECT f.ctid, tableoid, f, count(*) FILTER (WHERE dest = 'a') OVER w FROM flights f WINDOW w AS (ORDER BY day)
SELECT DISTINCT ON (origin) origin, user, session_user FROM flights ORDER BY origin, day DESC
SELECT relname, n.nspname FROM pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
SELECT table_name FROM information_schema.tables
SELECT g, g.g + 1 FROM generate_series(1, 3) g
SELECT l.n FROM flights f LEFT JOIN LATERAL (SELECT count(*) AS n FROM carriers WHERE code = f.dest) l ON true
SELECT x, t.y FROM (VALUES (1, 'a'), (2, 'b')) AS t (x, y)
SELECT origin::varchar(3), day AT TIME ZONE 'UTC', extract(epoch FROM day), day + interval '1 day' FROM flights
SELECT a, f.b, dep_delay FROM flights AS f (a, b)
SELECT count FROM (SELECT count(*) FROM flights) s
SELECT dest FROM ONLY flights TABLESAMPLE SYSTEM (10) FOR UPDATE SKIP LOCKED
SELECT array_agg(origin ORDER BY day), string_agg(dest, ','), ARRAY(SELECT name FROM carriers) FROM flights
SELECT (ARRAY[1, 2])[1], '{"a": 1}'::jsonb -> 'a' ->> 'b', $$it's$$, E'\\'', origin ~ '^J' FROM flights
SELECT grouping(origin), origin FROM flights GROUP BY GROUPING SETS ((origin), ()), ROLLUP (dest)
SELECT p.id FROM archive.plans p
SELECT k.key, k.value FROM jsonb_each('{}'::jsonb) k
SELECT a, n FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS u (a, n)
WITH gone AS (DELETE FROM carriers RETURNING code) SELECT code FROM gone
INSERT INTO carriers AS c (code) VALUES (DEFAULT) RETURNING c.code, name
UPDATE flights f SET dest = c.name FROM carriers c WHERE c.code = f.dest RETURNING f.*
DELETE FROM flights f USING carriers c WHERE c.code = f.dest AND name = origin
TABLE flights
VALUES (1), (2)
SELECT 1 AS "a b" ORDER BY "a b"
SELECT origin FROM flights ORDER BY origin FETCH FIRST 3 ROWS WITH TIES
""",
    Dialect.MYSQL: """
SELECT `origin`, @seen := 1, "a text", day + INTERVAL 1 DAY, TIMESTAMPDIFF(DAY, day, NOW()) FROM flights
SELECT origin, GROUP_CONCAT(dest ORDER BY day SEPARATOR ', ') FROM flights GROUP BY origin WITH ROLLUP
SELECT STRAIGHT_JOIN origin FROM flights USE INDEX (i) JOIN carriers ON code = dest LIMIT 5, 10
SELECT user, host FROM mysql.user
SELECT table_name FROM information_schema.tables
INSERT INTO carriers (code, name) VALUES ('a', 'b') ON DUPLICATE KEY UPDATE name = VALUES(name)
INSERT IGNORE INTO carriers SET code = 'a'
UPDATE flights f JOIN carriers c ON c.code = f.dest SET f.dest = c.name WHERE c.name IS NOT NULL
DELETE f FROM flights f JOIN carriers c ON c.code = f.dest
SELECT id FROM archive.plans
SELECT origin FROM flights WHERE day <=> NULL AND origin REGEXP '^J' AND dest RLIKE 'x'
SELECT CONVERT(origin USING utf8mb4), CAST(dep_delay AS SIGNED), EXTRACT(YEAR_MONTH FROM day) FROM flights
SELECT j.a FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$.a')) j
SELECT 1 FROM DUAL
""",
    Dialect.SPARK: """
SELECT transform(array(1), x -> x + dep_delay), `Odd Name`, f.day FROM flights f
SELECT origin, k FROM flights LATERAL VIEW explode(array(1, 2)) e AS k WHERE k > 1
SELECT origin, pos, col FROM flights LATERAL VIEW OUTER posexplode(array(1, 2))
SELECT /*+ BROADCAST(c) */ f.origin FROM flights f LEFT ANTI JOIN carriers c ON c.code = f.dest
SELECT * FROM parquet.`/data/flights`
SELECT origin AS o, upper(o) AS u FROM flights DISTRIBUTE BY origin SORT BY dep_delay
SELECT named_struct('a', 1).a AS n, map('k', 1)['k'], cast(day AS string), day - INTERVAL 1 DAY FROM flights
SELECT jfk FROM (SELECT origin, day FROM flights) PIVOT (max(day) FOR origin IN ('JFK' AS jfk))
SELECT jfk, lga FROM flights PIVOT (sum(dep_delay) FOR origin IN ('JFK' AS jfk, 'LGA' AS lga))
SELECT k FROM (SELECT * FROM flights LATERAL VIEW explode(array(1)) e AS k)
SELECT * FROM flights PIVOT (sum(dep_delay) FOR origin IN ('JFK', 'LGA'))
SELECT dateadd(DAY, 1, day), date_add(day, 1), timestampadd(MONTH, 1, day), try_cast(origin AS int) FROM flights
SELECT s.f FROM (SELECT struct(dep_delay AS f) AS s FROM flights) WHERE s.f > 1
INSERT OVERWRITE TABLE carriers SELECT origin, dest FROM flights
INSERT INTO carriers PARTITION (name = 'x') SELECT origin FROM flights
SELECT id FROM archive.plans TABLESAMPLE (10 PERCENT)
SELECT origin FROM flights VERSION AS OF 1
SELECT count(*) FROM range(10)
SELECT a FROM VALUES (1), (2) AS t(a)
""",
    Dialect.HIVE: """
SELECT origin, k FROM flights LATERAL VIEW explode(split(dest, ',')) e AS k
SELECT INPUT__FILE__NAME, BLOCK__OFFSET__INSIDE__FILE, origin FROM flights CLUSTER BY origin
SELECT collect_set(dest), percentile_approx(dep_delay, 0.5), origin RLIKE 'J.*' FROM flights GROUP BY origin
FROM flights INSERT OVERWRITE TABLE carriers SELECT origin, dest
""",
    Dialect.PRESTO: """
SELECT "$path", approx_distinct(origin), element_at(map(ARRAY['a'], ARRAY[1]), 'a') FROM flights
SELECT filter(ARRAY[1], x -> x > dep_delay), v FROM flights CROSS JOIN UNNEST(ARRAY[1, 2]) AS u (v)
SELECT orderkey FROM tpch.tiny.orders, tpch.main.customer
SELECT node_id FROM system.runtime.nodes
SELECT origin FROM hive.main.flights WHERE day > current_date - INTERVAL '1' DAY
SELECT table_name FROM information_schema.tables
SELECT date_trunc('month', day), try(CAST(origin AS bigint)), count_if(dest = 'a') FROM flights GROUP BY 1, 2
SELECT r.a FROM (SELECT CAST(ROW(1) AS ROW(a integer)) AS r)
SELECT origin, grouping(origin) FROM flights GROUP BY CUBE (origin, dest)
""",
}


def lines(*dialects: Dialect) -> list[tuple[Dialect, str]]:
    """Return the statements that each of the databases takes."""
    both = [(dialect, f"{ANYWHERE}{OF[dialect]}") for dialect in dialects]
    return [(dialect, line.replace("\t", "\n")) for dialect, text in both for line in text.split("\n") if line]


def agree(execute: Callable[[str], object], dialect: Dialect, file: CatalogueFile) -> None:
    """Let a database prepare each of its statements, and check that nothing is said of any."""
    for table in (*TABLES, *(ARCHIVE if dialect is Dialect.POSTGRESQL else ())):
        execute(table)
    for _, statement in lines(dialect):
        is_whole = statement.startswith(("EXPLAIN", "PRAGMA", "SUMMARIZE", "TABLE"))
        execute(statement if is_whole else f"EXPLAIN {statement}")
        assert problems(statement, dialect, file) == [], statement


def test_nothing_is_said_of_what_sqlite_takes(tmp_path):
    with closing(sqlite3.connect(":memory:")) as database:
        file = catalogue(tmp_path, default_schema="main")
        agree(lambda text: database.execute(text, {"dest": "JFK"} if ":dest" in text else {}), Dialect.SQLITE, file)


def test_nothing_is_said_of_what_duckdb_takes(tmp_path):
    with closing(duckdb.connect(":memory:")) as database:
        agree(database.execute, Dialect.DUCKDB, catalogue(tmp_path, default_schema="main"))


def test_nothing_is_said_of_what_postgresql_takes(tmp_path, empty_postgres_url):
    with psycopg.connect(empty_postgres_url, autocommit=True) as database:
        agree(database.execute, Dialect.POSTGRESQL, catalogue(tmp_path, default_schema="public"))


def test_nothing_is_said_of_what_the_other_databases_take(tmp_path):
    file = catalogue(tmp_path, default_schema="main")
    for dialect, statement in lines(Dialect.MYSQL, Dialect.SPARK, Dialect.HIVE, Dialect.PRESTO):
        assert problems(statement, dialect, file) == [], (dialect, statement)


NO_COLUMN, NO_TABLE, UNKNOWN = "There is no column {}", "There is no table {}", "Unknown word {}"
CANNOT = "The statement cannot be read at {}"
FAULTS = [
    ("SELECT [[orign]] FROM flights", NO_COLUMN, "origin"),
    ("SELECT f.[[ORIGN]] FROM flights f", NO_COLUMN, "origin"),
    ("SELECT origin FROM [[flihgts]]", NO_TABLE, "flights"),
    ("SELECT origin FROM flights, main.[[flihgts]]", NO_TABLE, "flights"),
    ("SELECT id FROM archive.[[plan]]", NO_TABLE, "plans"),
    ("SELECT origin FROM flights WHERE [[unlike]] = 1", NO_COLUMN, ""),
    ("SELECT [[x]].origin FROM flights f", "No table of this query has the name {}", ""),
    ("SELECT a.[[b]] FROM (SELECT origin AS o FROM flights) a", NO_COLUMN, ""),
    ("SELECT [[origins]] FROM (SELECT * FROM flights) a", NO_COLUMN, "origin"),
    ("SELECT [[origins]] FROM (SELECT f.* FROM flights f, carriers) a", NO_COLUMN, "origin"),
    ("SELECT [[nam]] FROM (SELECT f.* FROM flights f, carriers) a", NO_COLUMN, ""),
    ("SELECT [[day]] FROM (SELECT origin FROM flights UNION SELECT dest FROM flights) a", NO_COLUMN, ""),
    ("WITH a AS (SELECT origin FROM flights) SELECT [[dest]] FROM a", NO_COLUMN, ""),
    ("WITH a (x) AS (SELECT origin FROM flights) SELECT [[origin]] FROM a", NO_COLUMN, ""),
    ("WITH a AS (SELECT [[orign]] FROM flights) SELECT 1 FROM a", NO_COLUMN, "origin"),
    ("WITH a AS (SELECT 1 FROM [[flight]]) SELECT 1 FROM a", NO_TABLE, "flights"),
    ("SELECT 1 FROM flights WHERE dest IN (SELECT [[cod]] FROM carriers WHERE name = origin)", NO_COLUMN, "code"),
    ("SELECT 1 FROM flights WHERE EXISTS (SELECT 1 FROM carriers WHERE name = [[orign]])", NO_COLUMN, "origin"),
    ("SELECT origin FROM flights UNION SELECT [[cod]] FROM carriers", NO_COLUMN, "code"),
    ("SELECT origin FROM flights JOIN carriers ON [[cde]] = dest", NO_COLUMN, "code"),
    ("SELECT sum([[dep_dely]]) OVER (ORDER BY day) FROM flights ORDER BY 1", NO_COLUMN, "dep_delay"),
    ("SELECT count(*) AS n FROM flights GROUP BY [[orgin]] HAVING n > 1 ORDER BY n", NO_COLUMN, "origin"),
    ("INSERT INTO flights (origin, [[dst]]) SELECT origin, dest FROM flights", NO_COLUMN, "dest"),
    ("INSERT INTO [[flightz]] VALUES (1)", NO_TABLE, "flights"),
    ("INSERT INTO carriers SELECT [[orign]], dest FROM flights", NO_COLUMN, "origin"),
    ("UPDATE flights SET dest = 1 WHERE [[dst]] = 2", NO_COLUMN, "dest"),
    ("UPDATE flights SET [[dst]] = 1", NO_COLUMN, "dest"),
    ("DELETE FROM flights WHERE [[orgin]] = 1", NO_COLUMN, "origin"),
    ("DELETE FROM flights WHERE dest IN (SELECT [[cod]] FROM carriers WHERE name = dest)", NO_COLUMN, "code"),
    ("CREATE TABLE x AS SELECT [[orign]] FROM flights", NO_COLUMN, "origin"),
    ("SELECT origin FROM flights; SELECT 'a;b', [[orign]]\nFROM flights", NO_COLUMN, "origin"),
    ("-- 'a comment'\nSELECT /* b */ '\U0001f600', [[orign]] FROM flights", NO_COLUMN, "origin"),
    ("SELECT '$day$', '$x$', [[orign]] FROM flights -- $y$", NO_COLUMN, "origin"),
    ("[[SELEC]] origin FROM flights", UNKNOWN, "SELECT"),
    ("SELECT origin [[FORM]] flights", UNKNOWN, "FROM"),
    ("select origin [[form]] flights", UNKNOWN, "from"),
    ("-- first\n[[selec]] 1", UNKNOWN, "select"),
    ("INSERT INTO carriers SELECT [[code]] FROM flights", NO_COLUMN, ""),
    ("SELECT origin\nFROM flights\n[[WHER]] origin = 'JFK'", UNKNOWN, "WHERE"),
    ("SELECT origin FROM flights GROUP [[origin]]", CANNOT, ""),
    ("SELECT origin FROM flights WHERE origin [[=]]", CANNOT, ""),
    ("SELECT origin FROM flights WHERE (origin = [['JFK']]", ") is missing after {}", ""),
    ("SELECT origin[[,]] FROM flights", "The comma before FROM is one too many", ""),
]


def test_the_fault_is_marked_with_what_was_meant(tmp_path):
    file = catalogue(tmp_path, default_schema="main")
    for marked, message, meant in FAULTS:
        before, token, after = re.split(r"\[\[|\]\]", marked)
        found = problems(f"{before}{token}{after}", Dialect.SQLITE, file)
        place = (len(before), len(before) + len(token))
        told = [(one.start, one.end, one.message, " ".join(one.did_you_mean)) for one in found]
        assert told == [(*place, message.format(token), meant)], marked


MEANT = [
    (Dialect.POSTGRESQL, 'SELECT "Od Name" FROM flights', '"Odd Name"'),
    (Dialect.SPARK, "SELECT `Od Name` FROM flights", "`Odd Name`"),
    (Dialect.MYSQL, "SELECT `Od Name` FROM flights", "`Odd Name`"),
    (Dialect.POSTGRESQL, "SELECT cased FROM mixed", '"Cased1"'),
    (Dialect.SPARK, "SELECT cased FROM mixed", "Cased1"),
    (Dialect.PRESTO, "SELECT 1 FROM hive.main.flihgts", "flights"),
    (Dialect.HIVE, "SELECT orign, k FROM flights LATERAL VIEW explode(f.x) e AS k", None),
    (Dialect.SQLITE, 'SELECT "orign" FROM flights', None),
    (Dialect.SQLITE, "SELECT orign FROM flights f, json_each('[]') j", None),
    (Dialect.SQLITE, "SELECT f.orign FROM flights f, json_each('[]') j", "origin"),
    (Dialect.SQLITE, "SELECT orign FROM (SELECT count(*) FROM flights)", None),
    (Dialect.SQLITE, "SELECT orign FROM (SELECT 1), (SELECT 2)", None),
    (Dialect.SQLITE, "SELECT 1 FROM (SELECT 1), (SELECT 2), flihgts", "flights"),
    (Dialect.SQLITE, "SELECT origin, delay", None),
    (Dialect.SQLITE, "SELECT 1 FROM elsewhere.flihgts", None),
    (Dialect.SQLITE, "SELECT 1 FROM plans", None),
    (Dialect.DUCKDB, "SELECT orign FROM 'x.parquet'", None),
    (Dialect.OTHER, "SELECT orign FORM flights", None),
    (Dialect.ORACLE, "SELECT orign FORM flights", None),
]


def test_names_are_written_as_the_database_wants_them_and_doubt_says_nothing(tmp_path):
    file = catalogue(tmp_path, default_schema="main")
    for dialect, script, meant in MEANT:
        found = problems(script, dialect, file)
        assert [one.did_you_mean for one in found] == ([] if meant is None else [[meant]]), script


SCRIPTS = [
    ("SELECT 1 FROM nn; CREATE TABLE nn (a int); SELECT b FROM nn; SELECT c FROM flights", ["nn", "c"]),
    ("DROP TABLE flights; SELECT c FROM flights; SELECT c FROM carriers", ["c"]),
    ("SELECT 1 AS a INTO nn FROM flights; SELECT b FROM nn; SELECT c FROM flights", ["c"]),
    ("EXPLAIN SELECT 1; SELECT c FROM flights", ["c"]),
    ("SET search_path = x; SELECT c FROM flights; SELECT 1 FORM x", ["FORM"]),
    ('CREATE TABLE "Odd-Name x" (a int); SELECT b FROM "odd-name X"; SELECT c FROM flights', ["c"]),
    ("CALL anything(); SELECT c FROM flights", []),
    ("SELECT c FROM flights WHERE day = $day$", []),
    ("SELECT c FROM flights WHERE name = 'open", []),
    ("SELECT c FROM flights; SELECT c, " + "1 + " * 6000 + "1 FROM flights", ["c"]),
    ("SELECT " + "(" * 3000, []),
    (" ; ;\n-- nothing", []),
]


def test_a_script_is_followed_as_far_as_names_are_certain(tmp_path):
    file = catalogue(tmp_path, default_schema="main")
    for script, marked in SCRIPTS:
        found = problems(script, Dialect.POSTGRESQL, file)
        assert [script[one.start : one.end] for one in found] == marked, script[:80]


def test_without_a_catalogue_only_the_text_is_checked(tmp_path):
    nothing = CatalogueFile(tmp_path / "none.db")
    write_catalogue(tmp_path / "empty.db", DatabaseTables("main", []))
    for file in (nothing, CatalogueFile(tmp_path / "empty.db")):
        assert problems("SELECT orign FROM flihgts", Dialect.SQLITE, file) == []
        assert [one.did_you_mean for one in problems("SELECT 1 FORM x", Dialect.SQLITE, file)] == [["FROM"]]


def test_a_script_full_of_faults_stops_looking_for_what_was_meant(tmp_path):
    tables = [CatalogueTable("main", f"table_{number}", "table", None, []) for number in range(20_000)]
    tables.append(CatalogueTable("main", "wide", "table", None, [(f"column_{n}", "int") for n in range(20_000)]))
    write_catalogue(tmp_path / "large.db", DatabaseTables("main", tables))
    columns = ", ".join(f"colunm_{number}" for number in range(9))
    found = problems(f"SELECT {columns} FROM wide", Dialect.SQLITE, CatalogueFile(tmp_path / "large.db"))
    assert [bool(one.did_you_mean) for one in found] == [True] * 5 + [False] * 4
    script = ";".join(f"SELECT 1 FROM tabel_{number}" for number in range(3000))
    found = problems(script, Dialect.SQLITE, CatalogueFile(tmp_path / "large.db"))
    assert [bool(one.did_you_mean) for one in found] == [True] * 5 + [False] * 45


def test_queries_that_read_each_other_twice_take_no_longer(tmp_path):
    parts = [f"c{n} AS (SELECT a.* FROM c{n - 1} a, c{n - 1} b)" for n in range(1, 200)]
    script = f"WITH c0 AS (SELECT origin FROM flights), {', '.join(parts)} SELECT orign FROM c199"
    [found] = problems(script, Dialect.SQLITE, catalogue(tmp_path, default_schema="main"))
    assert found.did_you_mean == ["origin"]


def test_a_statement_never_reaches_the_log(tmp_path, caplog):
    problems(
        "CREATE SOMETHING odd WITH PASSWORD 'geheim-42'", Dialect.POSTGRESQL, catalogue(tmp_path, default_schema="main")
    )
    assert "geheim" not in caplog.text
