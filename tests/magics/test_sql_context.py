"""What completion offers at places in SQL texts, finished or not. Pure functions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.magics.completion.known_tables import KnownTables
from svc_jupyter.magics.completion.sql_choices import MOST, choices
from svc_jupyter.magics.completion.sql_context import context_at
from svc_jupyter.magics.completion.sql_words import OFFERED, STARTERS, unquoted, written
from svc_jupyter.sql_tokens import Dialect, tokens_of

ORDERS = ["id", "total", "person_id"]
PEOPLE = ["id", "name"]
TABLES = ['"order lines"', "orders", "people", "public", "sales", '"Big Schema"']


@pytest.fixture
def known():
    places = [("public", "orders"), ("public", "order lines"), ("public", "people"), ("sales", "old_orders")]
    known = KnownTables.of("public", [*places, ("Big Schema", "T")])
    known.learn("public", ["orders", "people"], {"orders": ORDERS, "people": PEOPLE})
    known.learn("public", ["order lines"], {"order lines": ["order_id", "Qty", "select"]})
    known.learn("sales", ["old_orders"], {"old_orders": ["old_id"]})
    known.learn("Big Schema", ["T"], {"T": ["größe"]})
    return known


def offered(marked, known, dialect=Dialect.POSTGRESQL, *, kinds=("schema", "table", "column")):
    """Return what is offered at the mark `|` of some kinds; None where nothing can be written."""
    cursor = marked.index("|")
    context = context_at(marked.replace("|", "", 1), cursor, dialect)
    if context is None:
        return None
    return [text for text, kind in choices(context, known) if kind in kinds]


NAMES = {
    # Tables
    "SELECT * FROM |": TABLES,
    "SELECT * FROM o|": ['"order lines"', "orders", "sales.old_orders"],
    "select * from old|": ["sales.old_orders"],
    "SELECT * FROM\n  orders o\n  LEFT JOIN pe|": ["people"],
    "select * from people, or|": ['"order lines"', "orders"],
    "select * from sales.|": ["old_orders"],
    "select * from hive.sales.o|": ["old_orders"],
    'select * from "Big Schema".|': ['"T"'],
    "insert into pe|": ["people"],
    "update pe|": ["people"],
    "explain delete from pe|": ["people"],
    "drop table if exists pe|": ["people"],
    "desc pe|": ["people"],
    "describe formatted pe|": ["people"],
    "analyze table pe|": ["people"],
    "create table copy like pe|": ["people"],
    "create index i on pe|": ["people"],
    "grant select on pe|": ["people"],
    "merge into orders o using pe|": ["people"],
    "select 1; select * from pe|; drop table x": ["people"],
    "with recent as (select 1) select * from re|": ["recent"],
    "use |": ["public", "sales", '"Big Schema"'],
    "show tables in sa|": ["sales"],
    # Columns
    "select | from orders": [*ORDERS, "orders"],
    "select distinct | from orders": [*ORDERS, "orders"],
    "select id, \n\nfrom orders where |": [*ORDERS, "orders"],
    "select to| from orders": ["total"],
    "select id from orders o join people p on |": [*ORDERS, "name", "o", "p"],
    "select p.| from orders o join people p": PEOPLE,
    "select p.name, | \nfrom people p": [*PEOPLE, "p"],
    "select * from (orders o join people p on p.|)": PEOPLE,
    "select id from orders o join people p using (na|": ["name"],
    "select public.orders.| from public.orders": ORDERS,
    "select sales.old_orders.| from sales.old_orders": ["old_id"],
    "select orders.|": ORDERS,
    "select case when to| from orders": ["total"],
    "select extract(year from tot|) from orders": ["total"],
    "select count(*) over (partition by tot|) from orders": ["total"],
    "select total from orders union all select na| from people": ["name"],
    "select * from orders where id is distinct from tot|": ["total"],
    "select * from orders where exists (select 1 from people where name = tot|)": ["total"],
    "select * from orders where id in (select p.| from people p)": PEOPLE,
    "select total as price from orders order by pri|": ["price"],
    "insert into orders (|": [*ORDERS, "orders"],
    "insert into orders select | from people": [*PEOPLE, "people"],
    "update people set na|": ["name"],
    "delete from orders where tot|": ["total"],
    "alter table orders drop column tot|": ["total"],
    "alter table orders rename column tot| to sum": ["total"],
    "create table copy as select na| from people": ["name"],
    "create index i on orders (tot|": ["total"],
    "merge into orders o using people p on p.|": PEOPLE,
    "from orders select tot|": ["total"],
    # Subqueries and common table expressions
    "select q.| from (select * from people) q": PEOPLE,
    "select q.| from (select p.*, 1 + 1 as two, id * 2, count(*) n from people p) as q": [*PEOPLE, "two", "n"],
    "with x as (select * from orders o) select x.| from x": ORDERS,
    "with x (a, b) as (select 1, 2), y as (select a from x) select | from y": ["a", "y"],
    "with recursive x as (select id from people union all select x.| from x) select 1": ["id"],
    "with x as (select total t from orders) select * from x where t|": ["t"],
    "select x.| from unnest(a) x(y, z)": ["y", "z"],
    "with x as (select | from orders), y as (select 1) select * from x join people join y": [*ORDERS, "orders"],
    "with x as (select 1 one), y as (select | from x) select * from people": ["one", "x"],
    "select * from people p join (select | from orders) o on o.id = p.id": [*ORDERS, "orders"],
    "select * from people where id in (select 1 from (select | from orders) o)": [*ORDERS, "name", "orders", "people"],
    "select * from people p, lateral (select p.| from orders) o": PEOPLE,
    "select * from people p cross join lateral (select na| from orders) o": ["name"],
    # Quotes
    'select * from "ord|': ['"order lines"', '"orders"'],
    'select "Q|" from "order lines"': ['"Qty'],
    'select "order lines".| from "order lines"': ["order_id", '"Qty"', '"select"'],
    'select g.| from "Big Schema"."T" g': ['"größe"'],
    # Nothing
    "select id as |": [],
    "create table pe|": [],
    "select * from orders limit |": [],
    "select id from orders as |": [],
    "values (|": [],
    "set hive.execution.engine = |": [],
    "select no_such.|": [],
    "select 'from |": None,
    "select 'it''s |": None,
    "select 1 -- from |": None,
    "select /* from |": None,
    "select $$ from |": None,
    "select 12|": None,
    "select 12.|": None,
    "select f(1).|": None,
    "select id::te| from orders": None,
    "select $da|": None,
}


def test_completions_follow_from_the_sql_around_the_cursor(known):
    assert {marked: offered(marked, known) for marked in NAMES} == NAMES


WORDS_OF_SYNTAX = {
    "|": list(STARTERS),
    "sel|": ["select"],
    "SELECT 1; INS|": ["INSERT INTO"],
    "SELECT * FROM orders |": list(OFFERED),
    "SELECT * FROM orders whe|": ["where", "when"],
    "select id | from orders": [word.lower() for word in OFFERED],
    "select * from orders gro|": ["group by"],
    "select id fr| orders": ["from"],
    "create view v as sel|": ["select"],
    "select * from |": [],
    "select | from orders": [],
    'select * from orders "whe|': [],
}


def test_words_of_syntax_are_offered_where_they_can_stand(known):
    assert {marked: offered(marked, known, kinds=("keyword",)) for marked in WORDS_OF_SYNTAX} == WORDS_OF_SYNTAX


FUNCTIONS = {
    (Dialect.SQLITE, "SELECT CO| FROM orders"): ["COALESCE", "COS", "COSH", "COUNT"],
    (Dialect.SQLITE, "select co|"): ["coalesce", "cos", "cosh", "count"],
    (Dialect.SQLITE, "select * from orders where le|(name) > 3"): ["lead", "length"],
    (Dialect.SQLITE, "select id from orders order by un|"): ["unicode", "unixepoch"],
    (Dialect.SQLITE, "select count(*) filter (where inst|"): ["instr"],
    (Dialect.HIVE, "select get_|"): ["get_json_object"],
    (Dialect.SPARK, "select get|"): ["get", "get_json_object"],
    (Dialect.PRESTO, "select approx_d|"): ["approx_distinct"],
    (Dialect.DUCKDB, "select approx_|"): ["approx_count_distinct", "approx_quantile", "approx_top_k"],
    (Dialect.OTHER, "select mi|"): ["min"],
    (Dialect.OTHER, "select strf|"): [],
    # Nothing
    (Dialect.SQLITE, "select |"): [],
    (Dialect.SQLITE, "select id co| from orders"): [],
    (Dialect.SQLITE, "select * from co|"): [],
    (Dialect.SQLITE, "select o.co| from orders o"): [],
    (Dialect.SQLITE, 'select "co| from orders'): [],
}


def test_functions_of_the_dialect_are_offered_where_values_are_written(known):
    found = {at: offered(at[1], known, at[0], kinds=("function",)) for at in FUNCTIONS}
    assert found == FUNCTIONS


MADE = [("Sales", "network_of"), ("public", "net_of")]
MADE_TABLES = [("Sales", "nearest"), ("public", "Net Days")]
MADE_FUNCTIONS = {
    "SELECT ne| FROM orders": ["net_of", '"Sales".network_of'],
    "SELECT network_| FROM orders": ['"Sales".network_of'],
    "SELECT sales.| FROM orders": ["network_of"],
    "SELECT sales.nea| FROM orders": [],
    'SELECT "n| FROM orders': ['"net_of"'],
    "SELECT id FROM orders ORDER BY net_|": ["net_of"],
    "UPDATE orders SET id = ne|": ["net_of", '"Sales".network_of'],
    "SELECT count(*) FROM ne|": ['"Net Days"', '"Sales".nearest'],
    "SELECT * FROM sales.|": ["nearest"],
    "INSERT INTO orders SELECT * FROM people JOIN ne|": ['"Net Days"', '"Sales".nearest'],
    "WITH a AS (SELECT * FROM ne|": ['"Net Days"', '"Sales".nearest'],
    # Nothing
    "SELECT | FROM orders": [],
    "SELECT * FROM |": [],
    "SELECT o.n| FROM orders o": [],
    "INSERT INTO ne|": [],
    "DELETE FROM sales.|": [],
    "DROP TABLE ne|": [],
    "USE sales.|": [],
    "CREATE TABLE sales.|": [],
    "DESCRIBE sales.|": [],
    "ALTER TABLE orders RENAME TO sales.|": [],
    "CREATE VIEW sales.| AS SELECT 1": [],
}


def test_functions_that_users_have_made_are_offered_where_they_can_be_called(known):
    known.functions, known.table_functions = MADE, MADE_TABLES
    assert {marked: offered(marked, known, Dialect.OTHER, kinds=("function",)) for marked in MADE_FUNCTIONS} == (
        MADE_FUNCTIONS
    )
    marked = "SELECT ne| FROM orders"
    assert offered(marked, known, Dialect.SQLSERVER, kinds=("function",))[:2] == ["Sales.network_of", "public.net_of"]
    assert offered(marked, known, Dialect.PRESTO, kinds=("function",)) == []  # it calls none of Hive's


def test_names_come_before_functions(known):
    known.learn("public", ["orders"], {"orders": ["count_of_lines", "max"]})
    context = context_at("select ma from orders", len("select ma"), Dialect.SQLITE)
    assert choices(context, known) == [("max", "column")]
    context = context_at("select coun from orders", len("select coun"), Dialect.SQLITE)
    assert choices(context, known) == [("count_of_lines", "column"), ("count", "function")]


IN_DIALECTS = {
    (Dialect.HIVE, "select | from `order lines`"): ["order_id", "Qty", "`select`", "`order lines`"],
    (Dialect.HIVE, "select * from `ord|`"): ["`order lines", "`orders"],
    (Dialect.HIVE, 'select "or|'): None,
    (Dialect.HIVE, r"select 'it\'s |"): None,
    (Dialect.HIVE, "select explode(x) from orders lateral view explode(tot|"): ["total"],
    (Dialect.MYSQL, "select 1 # from |"): None,
    (Dialect.MYSQL, "select 1 -- from |"): None,
    (Dialect.MYSQL, "select 1--tot| from orders"): ["total"],
    (Dialect.SPARK, r"select r'C:\', tot| from orders"): ["total"],
    (Dialect.HIVE, r"select R'C:\', tot| from orders"): ["total"],
    (Dialect.DUCKDB, r"select $$ ' $$, e'\'', tot| from orders"): ["total"],
    (Dialect.SQLITE, "select * from [ord|]"): ["[order lines", "[orders"],
    (Dialect.SQLITE, "select Qt| from [order lines]"): ["Qty"],
    (Dialect.PRESTO, 'select Qt| from "order lines"'): ["Qty"],
    (Dialect.SQLSERVER, "select T.| from [Big Schema].T"): ['"größe"'],
}


def test_a_dialect_has_its_own_quotes_and_comments(known):
    assert {(dialect, marked): offered(marked, known, dialect) for dialect, marked in IN_DIALECTS} == IN_DIALECTS


def test_columns_that_are_not_known_yet_are_asked_for():
    known = KnownTables.of("main", [("main", "Flights"), ("main", "planes")])
    assert offered("select f.| from flights f", known) == []
    assert known.missing() == {"main": ["Flights"]}
    known.learn("main", ["Flights"], {"Flights": ["dep_delay"]})
    assert known.missing() == {}
    assert offered("select f.| from flights f", known) == ["dep_delay"]


def test_of_very_many_tables_as_many_as_people_read_are_offered():
    known = KnownTables.of("main", [("main", f"t{number}") for number in range(5000)])
    assert len(offered("select * from |", known)) == MOST
    assert offered("select * from t4999|", known) == ["t4999"]


WORDS = (
    "SELECT FROM WHERE JOIN ON USING WITH x AS ( ) , . ; * = 'a \"b `c [d ] -- /* */ $$ 1 orders o AND GROUP BY UNION "
    "INSERT INTO UPDATE SET CREATE TABLE VALUES CASE END LATERAL VIEW IN EXISTS ORDER LIMIT :: größe 日本 🙂"
)
SNIPPETS = st.sampled_from([*WORDS.split(), "\n"])


@given(
    st.lists(SNIPPETS, max_size=40).map(" ".join) | st.text(max_size=80), st.integers(0, 200), st.sampled_from(Dialect)
)
def test_any_text_is_read(text, cursor, dialect):
    cursor = min(cursor, len(text))
    context = context_at(text, cursor, dialect)
    if context is not None:
        known = KnownTables.of("main", [("main", "orders"), ("main", "größe")])
        known.learn("main", ["orders", "größe"], {"orders": ["id"], "größe": ["日本"]})
        assert context.start <= cursor
        for choice, kind in choices(context, known):
            assert unquoted(choice).lower().startswith(context.prefix.lower()) or kind == "table"


@pytest.mark.parametrize("depth", [200, 3000])
def test_many_parentheses_are_read(depth, known):
    context = context_at("select * from orders where " + "(" * depth + "tot", 27 + depth + 3, Dialect.HIVE)
    assert "total" in [text for text, _ in choices(context, known)]
    nested = "select * from (" * depth + "select "
    assert context_at(nested, len(nested), Dialect.HIVE) is not None


@given(st.text(min_size=1, max_size=255), st.sampled_from(Dialect))
def test_a_written_name_is_one_token_and_that_name(name, dialect):
    text = written(name, dialect)
    [token] = tokens_of(text, dialect)
    assert (token.start, token.end, token.is_open) == (0, len(text), False)
    assert unquoted(text) == name
