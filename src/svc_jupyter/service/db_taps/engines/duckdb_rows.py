"""DuckDB's rows as Arrow, from its own connection.

Values of types that Arrow lacks are the text that DuckDB has for them, also within lists, maps and structs. 128-bit
integers are integers of 64 bits where all of a batch fit into them, else decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from svc_jupyter.service.db_taps.arrow import Column, Kind
from svc_jupyter.service.db_taps.engines.engine import Sink
from svc_jupyter.service.db_taps.intervals import durations, is_interval
from svc_jupyter.service.db_taps.statements import Statement
from svc_jupyter.service.db_taps.times import OUTSIDE, became_text, rebuilt, with_infinity

if TYPE_CHECKING:
    import sqlalchemy as sa

_BATCH_ROWS: Final = 8_192
_AS_THEY_ARE: Final = frozenset(
    {
        *("boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint"),
        *("hugeint", "float", "double", "decimal", "varchar", "blob", "uuid", "null", "interval", "date", "time"),
        *("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"),
    }
)
_WITHOUT_ROWS: Final = ((["Count"], ["BIGINT"]), (["Success"], ["BOOLEAN"]))
"""What statements that return no rows have instead."""
_QUERIES: Final = frozenset({"SELECT", "MULTI", "EXECUTE", "CALL", "PRAGMA", "EXPLAIN"})
_RETURNING: Final = re.compile(r"\breturning\b", re.IGNORECASE)
_HUGEINT_DIGITS: Final = 39
_INFINITY: Final = {2**63 - 1: "infinity", -(2**63) + 1: "-infinity"}
_INFINITY_OF_DATES: Final = {2**31 - 1: "infinity", -(2**31) + 1: "-infinity"}
Change = Callable[[Column, Kind], Column]


def run(connection: sa.Connection, statement: Statement, values: list[Any], sink: Sink) -> None:
    """Run a statement with the values of its marks.

    Raises the driver's errors, and while rows arrive `OSError` with DuckDB's words.
    """
    driver: Any = connection.connection.dbapi_connection
    kind = "".join(each.type.name for each in driver.extract_statements(statement.text))
    relation = _relation(connection, statement.text, values, kind)
    if relation is None:  # it is only a comment
        sink.done(None)
        return
    names, types = relation.columns, relation.types
    has_rows = kind in _QUERIES or _RETURNING.search(statement.text) is not None
    if not has_rows and (names, list(map(str, types))) in _WITHOUT_ROWS:
        counts = relation.fetchall() if names == ["Count"] else []
        sink.done(counts[0][0] if counts else None)
        return
    sink.table()
    read = [_arrow_type(each) for each in types]
    if read != list(map(str, types)):
        relation = relation.project(", ".join(f"CAST(#{place} AS {each})" for place, each in enumerate(read, 1)))
    if sink.limit is not None and kind == "SELECT":
        relation = relation.limit(sink.limit)
    reader = (getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader)(_BATCH_ROWS)
    changes = [_integers if each.id == "hugeint" else _plain for each in types]
    sink.write(_batch(names, [pa.array([], each) for each in reader.schema.types], changes))
    for arrived in reader:
        batch = _batch(names, arrived.columns, changes)
        for name, before, after in zip(names, arrived.schema.types, batch.schema.types, strict=True):
            if became_text(before, after):
                sink.became_text(name, OUTSIDE)
        sink.write(batch)
    sink.done(None)


def _relation(connection: sa.Connection, text: str, values: list[Any], kind: str) -> Any:
    driver: Any = connection.connection.dbapi_connection
    try:
        return driver.sql(text, params=values or None)
    except connection.dialect.loaded_dbapi.Error:
        if kind == "SELECT":
            driver.execute(text, values or None)  # it has not run; here the error shows the place in the text, too
        raise


def _arrow_type(kind: Any) -> str:
    """Return the type in which Arrow gets values of a type: itself, or text where Arrow has none."""
    if kind.id in _AS_THEY_ARE:
        return str(kind)
    if kind.id == "array":
        return f"{_arrow_type(kind.children[0][1])}[]"
    if kind.id not in ("list", "map", "struct"):
        return "VARCHAR"
    parts = [(name, _arrow_type(part)) for name, part in kind.children]
    if all(read == str(part) for (_, read), (_, part) in zip(parts, kind.children, strict=True)):
        return str(kind)
    if kind.id == "list":
        return f"{parts[0][1]}[]"
    if kind.id == "map":
        return f"MAP({parts[0][1]}, {parts[1][1]})"
    fields = [f'"{name.replace(chr(34), 2 * chr(34))}" {read}' for name, read in parts]
    return f"STRUCT({', '.join(fields)})"


def _batch(names: Sequence[str], columns: Sequence[Column], changes: Sequence[Change]) -> pa.RecordBatch:
    made = [rebuilt(column, column.type, change) for column, change in zip(columns, changes, strict=True)]
    return pa.RecordBatch.from_arrays(made, names=list(names))


def _integers(column: Column, kind: Kind) -> Column:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(pa.decimal256(_HUGEINT_DIGITS, kind.scale))


def _plain(column: Column, kind: Kind) -> Column:
    if is_interval(kind):
        return durations(column)
    if pa.types.is_timestamp(kind):
        utc = column if kind.tz is None else column.cast(pa.timestamp(kind.unit, "UTC"))
        return with_infinity(utc, _INFINITY)
    return with_infinity(column, _INFINITY_OF_DATES) if pa.types.is_date32(kind) else column
