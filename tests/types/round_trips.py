"""Values go into a database by its own driver and come out of a result: `check` compares them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

Row = tuple[Any, ...]


def tables(count: int) -> settings:
    """Return the settings of a test of so many tables. A failure names its type: smaller rows would take minutes."""
    unlike = [HealthCheck.function_scoped_fixture]
    return settings(max_examples=count, phases=[Phase.generate], suppress_health_check=unlike)


INTEGERS = st.integers(-(2**63), 2**63 - 1)
SMALL = st.integers(-(2**31), 2**31 - 1)
FLOATS = st.floats()
FLOATS_32 = st.floats(width=32)
TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20)
BYTES = st.binary(max_size=20)
LOCAL_TIMES = st.datetimes()
INSTANTS = st.datetimes(timezones=st.just(UTC))
LENGTHS = st.timedeltas(timedelta(days=-9999), timedelta(days=9999))


def decimals(whole: int, places: int) -> st.SearchStrategy[Decimal]:
    """Return numbers of so many digits before and after the point."""
    largest = 10 ** (whole + places) - 1
    return st.integers(-largest, largest).map(lambda number: Decimal(f"{number}e-{places}"))


def lists(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Return lists of values and None."""
    return st.lists(st.none() | values, max_size=3)


def rows(columns: Mapping[str, st.SearchStrategy[Any]], least: int = 1) -> st.SearchStrategy[list[Row]]:
    """Return rows of a table with a column of each type; any value may be None."""
    row = st.tuples(*(st.none() | values for values in columns.values()))
    return st.lists(row, min_size=least, max_size=max(least, 4))


def declared(columns: Mapping[str, Any]) -> str:
    """Return the table's columns: `n` is the number of a row, `c0` and so on have the types."""
    return ", ".join(["n integer", *(f"c{place} {kind}" for place, kind in enumerate(columns))])


def numbered(values: Sequence[Row]) -> list[Row]:
    """Return the rows with their numbers."""
    return [(number, *row) for number, row in enumerate(values)]


def check(values: Sequence[Row], columns: Mapping[str, Any], read: pa.Table) -> None:
    """Compare what was read, ordered by `n`, with the rows."""
    for place, kind in enumerate(columns):
        found = read[f"c{place}"].to_pylist()
        assert [_comparable(value) for value in found] == [_comparable(row[place]) for row in values], kind


def _comparable(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)  # in which not-a-number is itself, and -0.0 is not 0.0
    if isinstance(value, dict):
        return _comparable(list(value.items()))
    if isinstance(value, list) and any(isinstance(item, tuple) for item in value):  # a map, in no order
        return sorted([name, _comparable(item)] for name, item in value)
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    return value


@dataclass(frozen=True)
class Literals:
    """How an engine without a table to write into is given values: rows of literals."""

    text: str
    """An expression for the text whose UTF-8 is hexadecimal."""
    array: str
    map: str

    def script(self, values: Sequence[Row], columns: Mapping[str, Any]) -> str:
        """Return the query for the rows."""
        lines = [
            f"({number}, {', '.join(self._cast(value, kind) for value, kind in zip(row, columns, strict=True))})"
            for number, row in enumerate(values)
        ]
        names = ", ".join(["n", *(f"c{place}" for place in range(len(columns)))])
        return f"SELECT * FROM (VALUES {', '.join(lines)}) AS t ({names}) ORDER BY n"

    def _cast(self, value: Any, kind: str) -> str:
        return f"CAST({self._literal(value)} AS {kind})"

    def _literal(self, value: Any) -> str:
        match value:
            case None:
                return "NULL"
            case str():
                return self.text.format(value.encode().hex())
            case bytes():
                return f"X'{value.hex()}'"
            case float() if math.isinf(value):
                return f"'{'-' if value < 0 else ''}Infinity'"
            case float() if math.isnan(value):
                return "'NaN'"
            case Decimal():
                return f"'{value:f}'"
            case datetime():
                zone = "" if value.tzinfo is None else " UTC"
                return f"'{value.replace(tzinfo=None).isoformat(' ', 'microseconds')}{zone}'"
            case list():
                return self.array.format(", ".join(map(self._literal, value)))
            case dict():
                keys, items = (self._literal(list(part)) for part in (value.keys(), value.values()))
                return self.map.format(keys, items)
            case _:
                return f"'{value}'"


PRESTO_LITERALS = Literals("from_utf8(X'{}')", "array[{}]", "map({}, {})")
SPARK_LITERALS = Literals("CAST(X'{}' AS string)", "array({})", "map_from_arrays({}, {})")


def in_milliseconds(times: st.SearchStrategy[datetime]) -> st.SearchStrategy[datetime]:
    """Return times without the digits that Presto does not have."""
    return times.map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))


_OF_ENGINES = {
    "boolean": st.booleans(),
    "bigint": INTEGERS,
    "decimal(38,10)": decimals(28, 10),
    "double": FLOATS,
    "date": st.dates(),
}
PRESTO = _OF_ENGINES | {
    "real": FLOATS_32,
    "varchar": TEXTS,
    "varbinary": BYTES,
    "timestamp": in_milliseconds(LOCAL_TIMES),
    "timestamp with time zone": in_milliseconds(INSTANTS),
    "array(bigint)": lists(INTEGERS),
    "array(varchar)": lists(TEXTS),
    "map(varchar, decimal(20,5))": st.dictionaries(TEXTS, decimals(15, 5), max_size=3),
}
HIVE = _OF_ENGINES | {
    "float": FLOATS_32,
    "string": TEXTS,
    "binary": BYTES,
    "timestamp": LOCAL_TIMES,
    "array<bigint>": lists(INTEGERS),
    "array<string>": lists(TEXTS),
    "array<timestamp>": lists(LOCAL_TIMES),
    "map<string, decimal(20,5)>": st.dictionaries(TEXTS, decimals(15, 5), max_size=3),
}
SPARK = {kind: values for kind, values in HIVE.items() if "timestamp" not in kind} | {
    "timestamp_ntz": LOCAL_TIMES,
    "timestamp": INSTANTS,
    "array<timestamp>": lists(INSTANTS),
}
