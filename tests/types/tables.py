"""What each source's types become in a DataFrame: tables whose values are written by hand.

A test of a source runs `check(SOURCE, query)`. `python -m tests.types.page` makes docs/types.md of the same tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from svc_jupyter.client.commands.tables import frame

BESIDE_NULL: Final = {"bool": "boolean"} | {f"int{n}": f"Int{n}" for n in (8, 16, 32, 64)} | {"uint64": "UInt64"}
"""The dtype beside a NULL, where it is another one."""
SAME: Final = object()


@dataclass(frozen=True)
class Typed:
    """A value of a type in SQL, and what a DataFrame has of it: in a column, and within an array, a map or a struct."""

    type: str
    sql: str
    dtype: str
    value: Any
    nested: Any = SAME

    @property
    def inner(self) -> Any:
        """The value within an array, a map or a struct."""
        return self.value if self.nested is SAME else self.nested


@dataclass(frozen=True)
class Source:
    """A source with its types. `nestings` are how its SQL makes an array, a map and a struct `{"f": …}` of a value."""

    name: str
    types: Sequence[Typed]
    nestings: dict[str, str] = field(default_factory=dict)
    is_declared: bool = False
    """Whether only the columns of tables have all of the types."""
    note: str = ""


Query = Callable[[str], pa.Table]
Found = tuple[str, str, str, Any]
"""Type, nesting, dtype and value."""


def check(source: Source, query: Query) -> None:
    """Ask a source for each value by itself, beside a NULL and in each nesting, and compare."""
    wrong = [
        (found, said) for found, said in zip(found_in(source, query), expected(source), strict=True) if found != said
    ]
    assert not wrong, f"found and expected: {wrong}"
    beside = frame(query(_script(source, [typed.sql for typed in source.types], with_nulls=True)))
    row = beside[~beside.isna().all(axis="columns")]
    assert (len(row), len(beside)) == (1, 2)
    found = [(typed.type, str(row.dtypes.iloc[n]), plain(row.iloc[0, n])) for n, typed in enumerate(source.types)]
    assert found == [(each.type, BESIDE_NULL.get(each.dtype, each.dtype), plain(each.value)) for each in source.types]


def expected(source: Source) -> list[Found]:
    """Return what the tables say."""
    columns = [(typed.type, "column", typed.dtype, plain(typed.value)) for typed in source.types]
    for nesting in source.nestings:
        columns += [(each.type, nesting, "object", plain(_within(nesting, each.inner))) for each in source.types]
    return columns


def found_in(source: Source, query: Query) -> list[Found]:
    """Return what a DataFrame has, in the order of `expected`."""
    columns = [(typed.type, "column", typed.sql) for typed in source.types]
    for nesting, form in source.nestings.items():
        columns += [(typed.type, nesting, form.format(sql=typed.sql, type=typed.type)) for typed in source.types]
    read = frame(query(_script(source, [sql for *_, sql in columns])))
    return [
        (kind, nesting, str(read.dtypes.iloc[place]), plain(read.iloc[0, place]))
        for place, (kind, nesting, _) in enumerate(columns)
    ]


def plain(value: Any) -> Any:
    """Return a value of a DataFrame for comparing: arrays as lists, and no number that equals one of another type."""
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, list | tuple):
        return type(value)(plain(each) for each in value)
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, bool | np.bool_):
        return f"boolean {value}"
    if isinstance(value, float | np.floating):
        return f"float {value}"
    return f"decimal {value}" if isinstance(value, Decimal) else value


def _within(nesting: str, value: Any) -> Any:
    return {"array": [value], "map": [("k", value)], "struct": {"f": value}}[nesting]


def _script(source: Source, expressions: Sequence[str], *, with_nulls: bool = False) -> str:
    names = [f"c{place}" for place in range(len(expressions))]
    nulls = ", ".join("NULL" for _ in names)
    if source.is_declared:
        columns = ", ".join(f"{name} {typed.type} NULL" for name, typed in zip(names, source.types, strict=True))
        rows = f"({', '.join(expressions)})" + (f", ({nulls})" if with_nulls else "")
        return f"CREATE TABLE typed ({columns}); INSERT INTO typed VALUES {rows}; SELECT * FROM typed; DROP TABLE typed"
    selected = ", ".join(f"{sql} AS {name}" for name, sql in zip(names, expressions, strict=True))
    return f"SELECT {selected}" + (f" UNION ALL SELECT {nulls}" if with_nulls else "")


BIG: Final = 1239162456494753671
UUID: Final = "00000000-0000-0000-0000-000000000001"
CLOCK: Final = time(1, 2, 3, 500_000)
LOCAL: Final = datetime(2020, 1, 31, 1, 2, 3, 500_000)  # noqa: DTZ001  what has no zone
INSTANT: Final = datetime(2020, 1, 30, 23, 2, 3, tzinfo=UTC)
DAY: Final = date(2020, 1, 31)
LENGTH: Final = timedelta(days=2, hours=3)
NANOSECONDS: Final = pd.Timestamp("2020-01-31 01:02:03.000000001")

DUCKDB: Final = Source(
    "DuckDB",
    [
        Typed("boolean", "true", "bool", True),
        Typed("tinyint", "1::tinyint", "int8", 1),
        Typed("smallint", "1::smallint", "int16", 1),
        Typed("integer", "1", "int32", 1),
        Typed("bigint", f"{BIG}", "int64", BIG),
        Typed("ubigint", "18446744073709551615::ubigint", "uint64", 2**64 - 1),
        Typed("hugeint, within 64 bits", "1::hugeint", "int64", 1, Decimal(1)),
        Typed("hugeint, beyond 64 bits", f"{2**100}::hugeint", "object", Decimal(2**100)),
        Typed("decimal(5,2)", "1.50::decimal(5,2)", "object", Decimal("1.50")),
        Typed("float", "1.5::float", "float32", 1.5),
        Typed("double", "1.1::double", "float64", 1.1),
        Typed("double, not a number", "'nan'::double", "float64", math.nan),
        Typed("varchar", "'ü'", "str", "ü"),
        Typed("blob", "'ab'::blob", "object", b"ab"),
        Typed("bit", "'101'::bit", "str", "101"),
        Typed("uuid", f"'{UUID}'::uuid", "str", UUID),
        Typed("json", """'{"a": 1}'::json""", "str", '{"a": 1}'),
        Typed("enum", "'b'::enum('a', 'b')", "str", "b"),
        Typed("union", "union_value(n := 1)", "str", "1"),
        Typed("date", "date '2020-01-31'", "object", DAY),
        Typed("date, after the year 9999", "date '12020-01-31'", "str", "+12020-01-31"),
        Typed("date, infinite", "date 'infinity'", "str", "infinity"),
        Typed("time", "time '01:02:03.5'", "object", CLOCK),
        Typed("time with time zone", "'01:02:03+02'::timetz", "str", "01:02:03+02"),
        Typed("timestamp", "timestamp '2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
        Typed(
            "timestamp_ns", "timestamp_ns '2020-01-31 01:02:03.000000001'", "datetime64[ns]", NANOSECONDS, NANOSECONDS
        ),
        Typed(
            "timestamp with time zone",
            "timestamptz '2020-01-31 01:02:03+02'",
            "datetime64[us, UTC]",
            INSTANT,
        ),
        Typed("timestamp, after the year 9999", "timestamp '12020-01-31 01:02:03'", "str", "+12020-01-31T01:02:03"),
        Typed("interval", "interval '2 days 3 hours'", "timedelta64[us]", LENGTH),
        Typed("interval, with months", "interval '1 month 2 days'", "str", "1 mon 2 days"),
        Typed("integer[]", "[1, NULL]", "object", [1, None]),
        Typed("map", "MAP {'a': 1}", "object", [("a", 1)]),
        Typed("struct", "{'a': 1, 'b': 'x'}", "object", {"a": 1, "b": "x"}),
    ],
    {"array": "[{sql}]", "map": "MAP {{'k': {sql}}}", "struct": "{{'f': {sql}}}"},
)

SQLITE: Final = Source(
    "SQLite",
    [
        Typed("INTEGER", f"{BIG}", "int64", BIG),
        Typed("BOOLEAN", "true", "int64", 1),
        Typed("REAL", "1.1", "float64", 1.1),
        Typed("DECIMAL(10,2)", "1.50", "float64", 1.5),
        Typed("NUMERIC", "1", "int64", 1),
        Typed("TEXT", "'ü'", "str", "ü"),
        Typed("VARCHAR(3)", "'01'", "str", "01"),
        Typed("DATE", "'2020-01-31'", "str", "2020-01-31"),
        Typed("DATETIME", "'2020-01-31 01:02:03'", "str", "2020-01-31 01:02:03"),
        Typed("BLOB", "x'00ff'", "object", b"\x00\xff"),
    ],
    is_declared=True,
    note="SQLite has five kinds of values, and no type of a column stands for dates, booleans or exact decimals.",
)

POSTGRESQL: Final = Source(
    "PostgreSQL",
    [
        Typed("boolean", "true", "bool", True),
        Typed("smallint", "1::smallint", "int16", 1),
        Typed("integer", "1", "int32", 1),
        Typed("bigint", f"{BIG}", "int64", BIG),
        Typed("oid", "4294967295::oid", "int64", 4294967295),
        Typed("numeric(10,2)", "1.50::numeric(10,2)", "object", Decimal("1.50")),
        Typed("numeric", f"{2**100}.5", "object", Decimal(f"{2**100}.5")),
        Typed("numeric, not a number", "'NaN'::numeric", "float64", math.nan),
        Typed("money", "'5.5'::money", "object", Decimal("5.50")),
        Typed("real", "1.5::real", "float32", 1.5),
        Typed("double precision", "1.1::float8", "float64", 1.1),
        Typed("text", "'ü'::text", "str", "ü"),
        Typed("varchar", "'v'::varchar(3)", "str", "v"),
        Typed("char(3)", "'v'::char(3)", "str", "v  "),
        Typed("bytea", r"'\x00ff'::bytea", "object", b"\x00\xff"),
        Typed("bit", "B'101'", "str", "101"),
        Typed("uuid", f"'{UUID}'::uuid", "str", UUID),
        Typed("json", """'{"a": 1}'::json""", "str", '{"a": 1}'),
        Typed("jsonb", """'{"a": 1}'::jsonb""", "str", '{"a": 1}'),
        Typed("inet", "'10.0.0.1'::inet", "str", "10.0.0.1/32"),
        Typed("int4range", "int4range(1, 3)", "str", "[1,3)"),
        Typed("composite", "(1, 'a')", "str", "(1,a)"),
        Typed("point", "point(1, 2)", "str", "(1,2)"),
        Typed("date", "date '2020-01-31'", "object", DAY),
        Typed("date, before the year 1", "date '0044-03-15 BC'", "str", "-0043-03-15"),
        Typed("date, infinite", "date 'infinity'", "str", "infinity"),
        Typed("time", "time '01:02:03.5'", "object", CLOCK),
        Typed("time, at the end of a day", "time '24:00:00'", "str", "24:00:00"),
        Typed("time with time zone", "timetz '01:02:03+02'", "str", "01:02:03+02"),
        Typed("timestamp", "timestamp '2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
        Typed("timestamp with time zone", "timestamptz '2020-01-31 01:02:03+02'", "datetime64[us, UTC]", INSTANT),
        Typed(
            "timestamp with time zone, after the year 9999",
            "timestamptz '20000-01-02 03:04:05+02'",
            "str",
            "+20000-01-02T01:04:05Z",
        ),
        Typed("interval", "interval '2 days 3 hours'", "timedelta64[us]", LENGTH),
        Typed("interval, with months", "interval '1 month 2 days'", "str", "1 mon 2 days"),
    ],
    {"array": "array[{sql}]"},
    note="There are no maps, and a row within a column is text. An array of several dimensions is lists of lists.",
)

MARIADB: Final = Source(
    "MySQL and MariaDB",
    [
        Typed("BOOLEAN", "true", "int64", 1),
        Typed("TINYINT", "1", "int64", 1),
        Typed("BIGINT", f"{BIG}", "int64", BIG),
        Typed("BIGINT UNSIGNED", f"{2**64 - 1}", "object", Decimal(2**64 - 1)),
        Typed("DECIMAL(5,2)", "1.5", "object", Decimal("1.50")),
        Typed("FLOAT", "1.5", "float64", 1.5),
        Typed("DOUBLE", "1.1", "float64", 1.1),
        Typed("BIT(3)", "b'101'", "object", b"\x05"),
        Typed("YEAR", "2020", "int64", 2020),
        Typed("CHAR(3)", "'v'", "str", "v"),
        Typed("VARCHAR(3)", "'ü'", "str", "ü"),
        Typed("TEXT", "'01'", "str", "01"),
        Typed("ENUM('a', 'b')", "'b'", "str", "b"),
        Typed("SET('a', 'b')", "'a,b'", "str", "a,b"),
        Typed("JSON", """'{"a": 1}'""", "str", '{"a": 1}'),
        Typed("VARBINARY(3)", "x'00ff'", "object", b"\x00\xff"),
        Typed("BLOB", "x'00ff'", "object", b"\x00\xff"),
        Typed("DATE", "'2020-01-31'", "object", DAY),
        Typed("TIME(1)", "'01:02:03.5'", "timedelta64[us]", timedelta(hours=1, minutes=2, seconds=3.5)),
        Typed("TIME", "'-25:00:00'", "timedelta64[us]", timedelta(hours=-25)),
        Typed("DATETIME(1)", "'2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
        Typed("TIMESTAMP(1)", "'2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
    ],
    is_declared=True,
    note="TIME is a length, up to 838 hours. TIMESTAMP is a local time, in the zone of the connection.",
)

PRESTO: Final = Source(
    "Presto",
    [
        Typed("boolean", "true", "bool", True),
        Typed("tinyint", "tinyint '1'", "int8", 1),
        Typed("smallint", "smallint '1'", "int16", 1),
        Typed("integer", "1", "int32", 1),
        Typed("bigint", f"{BIG}", "int64", BIG),
        Typed("decimal(5,2)", "CAST(1.5 AS decimal(5,2))", "object", Decimal("1.50")),
        Typed("decimal(38,0)", f"decimal '{10**37}'", "object", Decimal(10**37)),
        Typed("real", "real '1.5'", "float32", 1.5),
        Typed("double", "1.1e0", "float64", 1.1),
        Typed("double", "nan()", "float64", math.nan),
        Typed("varchar", "'ü'", "str", "ü"),
        Typed("char(3)", "CAST('v' AS char(3))", "str", "v  "),
        Typed("varbinary", "x'00ff'", "object", b"\x00\xff"),
        Typed("json", """json '{"a": 1}'""", "str", '{"a":1}'),
        Typed("uuid", f"uuid '{UUID}'", "str", UUID),
        Typed("ipaddress", "ipaddress '10.0.0.1'", "str", "10.0.0.1"),
        Typed("ipprefix", "ipprefix '10.0.0.0/8'", "str", "10.0.0.0/8"),
        Typed("date", "date '2020-01-31'", "object", DAY),
        Typed("date", "date '12020-01-31'", "str", "+12020-01-31"),
        Typed("time", "time '01:02:03.5'", "object", CLOCK),
        Typed("time with time zone", "time '01:02:03.5 +02:00'", "str", "01:02:03.500 +02:00"),
        Typed("timestamp", "timestamp '2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
        Typed(
            "timestamp with time zone",
            "timestamp '2020-01-31 01:02:03 +02:00'",
            "datetime64[us, UTC]",
            INSTANT,
        ),
        Typed("interval day to second", "interval '2' day + interval '3' hour", "str", "2 03:00:00.000"),
        Typed("interval year to month", "interval '1' month", "str", "0-1"),
        Typed("array(integer)", "array[1, NULL]", "object", [1, None]),
        Typed("map(varchar, integer)", "map(array['a'], array[1])", "object", [("a", 1)]),
        Typed(
            'row(a integer, "b c" varchar)',
            """CAST(row(1, 'x') AS row(a integer, "b c" varchar))""",
            "object",
            {"a": 1, "b c": "x"},
        ),
    ],
    {
        "array": "array[{sql}]",
        "map": "map(array['k'], array[{sql}])",
        "struct": "CAST(row({sql}) AS row(f {type}))",
    },
)

_OF_SPARK: Final = [
    Typed("boolean", "true", "bool", True),
    Typed("tinyint", "1Y", "int8", 1),
    Typed("smallint", "1S", "int16", 1),
    Typed("int", "1", "int32", 1),
    Typed("bigint", f"{BIG}", "int64", BIG),
    Typed("decimal(5,2)", "CAST(1.5 AS decimal(5,2))", "object", Decimal("1.50")),
    Typed("decimal(38,0)", f"{10**37}BD", "object", Decimal(10**37)),
    Typed("float", "1.5F", "float32", 1.5),
    Typed("double", "1.1D", "float64", 1.1),
    Typed("double, not a number", "double('NaN')", "float64", math.nan),
    Typed("string", "'ü'", "str", "ü"),
    Typed("string, not in UTF-8", "CAST(X'ff41' AS string)", "str", "�A"),
    Typed("binary", "X'00ff'", "object", b"\x00\xff"),
    Typed("date", "date'2020-01-31'", "object", DAY),
    Typed("date, after the year 9999", "date'+12020-01-31'", "str", "+12020-01-31"),
    Typed("timestamp_ntz", "timestamp_ntz'2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
    Typed("array<int>", "array(1, NULL)", "object", [1, None]),
    Typed("map<string, int>", "map('a', 1)", "object", [("a", 1)]),
    Typed("struct<a: int, b c: string>", "named_struct('a', 1, 'b c', 'x')", "object", {"a": 1, "b c": "x"}),
]
_NESTINGS_OF_SPARK: Final = {
    "array": "array({sql})",
    "map": "map('k', {sql})",
    "struct": "named_struct('f', {sql})",
}

SPARK: Final = Source(
    "Spark",
    [
        *_OF_SPARK,
        Typed("timestamp", "timestamp'2020-01-31 01:02:03+02:00'", "datetime64[us, UTC]", INSTANT),
        Typed("interval day to second", "interval '2 03' day to hour", "timedelta64[us]", LENGTH),
        Typed("interval year to month", "interval '1' month", "str", "INTERVAL '1' MONTH"),
        Typed("variant", """parse_json('{"a":1}')""", "str", '{"a":1}'),
    ],
    _NESTINGS_OF_SPARK,
)

HIVE: Final = Source(
    "Hive",
    [
        *_OF_SPARK,
        Typed("timestamp", "timestamp'2020-01-31 01:02:03.5'", "datetime64[us]", LOCAL),
        Typed(
            "interval day to second",
            "interval '2 03' day to hour",
            "str",
            "2 03:00:00.000000000",
            "INTERVAL '2 03' DAY TO HOUR",
        ),
        Typed("interval year to month", "interval '1' month", "str", "0-1", "INTERVAL '1' MONTH"),
    ],
    _NESTINGS_OF_SPARK,
)

SOURCES: Final = (DUCKDB, SQLITE, POSTGRESQL, MARIADB, PRESTO, HIVE, SPARK)
