"""Results that are typed tables, and how each type looks in each form."""

from __future__ import annotations

import csv
import io
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from svc_jupyter.service.commands import results
from svc_jupyter.service.commands.kind import ResultForm, StoredResult

Store = Callable[[pa.Table], StoredResult]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Writes a typed result as DB queries do."""

    def store(table: pa.Table, batch_rows: int = 1000) -> StoredResult:
        with pa.OSFile(str(tmp_path / "result"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            for batch in table.to_batches(max_chunksize=batch_rows):
                writer.write_batch(batch)
        size = (tmp_path / "result").stat().st_size
        columns = tuple((field.name, str(field.type)) for field in table.schema)
        return StoredResult(ResultForm.ARROW, "result", size, table.num_rows, columns)

    return store


NOON = datetime(2026, 11, 21, 12, 30, 15, 250_000)  # noqa: DTZ001  a column without a zone
TYPES: dict[str, tuple[pa.DataType, Any, str, str]] = {
    # type, value, in tab-separated text, in CSV
    "integer": (pa.int64(), -(2**63), "-9223372036854775808", "-9223372036854775808"),
    "unsigned": (pa.uint64(), 2**64 - 1, "18446744073709551615", "18446744073709551615"),
    "float": (pa.float64(), 0.1, "0.1", "0.1"),
    "float of 32 bits": (pa.float32(), 0.1, "0.1", "0.1"),
    "large float of 32 bits": (pa.float32(), 1e20, "1e+20", "1e+20"),
    "not a number": (pa.float64(), float("inf"), "inf", "inf"),
    "boolean": (pa.bool_(), True, "true", "true"),
    "text": (pa.string(), "grün", "grün", "grün"),
    "large text": (pa.large_string(), "x", "x", "x"),
    "text with tab and line ends": (pa.string(), "a\tb\r\nc\nd\re", "a b c d e", "a\tb\r\nc\nd\re"),
    "text with a quote": (pa.string(), 'say "hi", now', 'say "hi", now', 'say "hi", now'),
    "binary": (pa.binary(), b"\x00\xff", "00ff", "00ff"),
    "large binary": (pa.large_binary(), b"ab", "6162", "6162"),
    "fixed binary": (pa.binary(2), b"ab", "6162", "6162"),
    "decimal": (pa.decimal128(38, 10), Decimal("1.5000000000"), "1.5000000000", "1.5000000000"),
    "date": (pa.date32(), date(2026, 11, 21), "2026-11-21", "2026-11-21"),
    "time": (pa.time64("us"), time(12, 30, 15), "12:30:15", "12:30:15.000000"),
    "timestamp": (pa.timestamp("us"), NOON, "2026-11-21 12:30:15.250000", "2026-11-21 12:30:15.250000"),
    "timestamp with zone": (
        pa.timestamp("us", "UTC"),
        NOON.replace(tzinfo=UTC),
        "2026-11-21 12:30:15.250000+00:00",
        "2026-11-21 12:30:15.250000Z",
    ),
    "list": (pa.list_(pa.int64()), [1, None, 3], "[1, null, 3]", "[1, null, 3]"),
    "list of texts": (pa.list_(pa.string()), ['a"b', "grün"], '["a\\"b", "grün"]', '["a\\"b", "grün"]'),
    "structure": (
        pa.struct([("a", pa.int64()), ("b", pa.date32())]),
        {"a": 1, "b": date(2026, 1, 2)},
        '{"a": 1, "b": "2026-01-02"}',
        '{"a": 1, "b": "2026-01-02"}',
    ),
    "structure with floats of 32 bits": (
        pa.struct([("f", pa.float32()), ("l", pa.large_list(pa.list_(pa.float32(), 1)))]),
        {"f": 0.1, "l": [[0.2], None]},
        '{"f": 0.1, "l": [[0.2], null]}',
        '{"f": 0.1, "l": [[0.2], null]}',
    ),
    "map": (pa.map_(pa.float32(), pa.binary()), [(0.1, b"\xff")], '[[0.1, "ff"]]', '[[0.1, "ff"]]'),
    "duration": (pa.duration("s"), timedelta(hours=25), "1 day, 1:00:00", "1 day, 1:00:00"),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), "x", "x", "x"),
    "nothing at all": (pa.null(), None, "NULL", ""),
}


def test_a_value_of_each_type_as_text(store: Store, tmp_path: Path):
    def texts(kind: pa.DataType, value: Any) -> tuple[str, list[list[str]]]:
        result = store(pa.table({"value": pa.array([value, None], kind), "n": [1, 2]}))
        as_csv = b"".join(results.as_csv(tmp_path, result)).decode()
        tsv = "".join(results.as_tsv(tmp_path, result, headers=False))
        return tsv, list(csv.reader(io.StringIO(as_csv, newline="")))

    assert {name: texts(kind, value) for name, (kind, value, _, _) in TYPES.items()} == {
        name: (f"{in_tsv}\t1\r\nNULL\t2\r\n", [["value", "n"], [in_csv, "1"], ["", "2"]])
        for name, (_, _, in_tsv, in_csv) in TYPES.items()
    }


def test_a_value_of_each_type_as_a_table(store: Store, tmp_path: Path):
    def tables(table: pa.Table) -> tuple[pa.Table, list[Any]]:
        result = store(table)
        parquet = pq.read_table(pa.BufferReader(b"".join(results.as_parquet(tmp_path, result))))
        arrow = pa.ipc.open_stream(b"".join(results.as_arrow(tmp_path, result))).read_all()
        return arrow, parquet.column("value").to_pylist()

    stored = {
        name: pa.table({"value": pa.array([value, None], kind), "n": [1, 2]})
        for name, (kind, value, _, _) in TYPES.items()
    }
    assert {name: tables(table) for name, table in stored.items()} == {
        name: (table, table.column("value").to_pylist()) for name, table in stored.items()
    }


def test_null_and_the_empty_text_differ_in_csv(store: Store, tmp_path: Path):
    result = store(pa.table({"a": [None, ""], "n": [1, 2]}))
    assert b"".join(results.as_csv(tmp_path, result)) == b'"a","n"\n,1\n"",2\n'


def test_a_table_without_rows_has_its_header(store: Store, tmp_path: Path):
    result = store(pa.table({"a": pa.array([], pa.int64()), "b\tc": pa.array([], pa.string())}))
    assert "".join(results.as_tsv(tmp_path, result, headers=True)) == "a\tb c\r\n"
    assert "".join(results.as_tsv(tmp_path, result, headers=False)) == ""
    assert b"".join(results.as_csv(tmp_path, result)) == b'"a","b\tc"\n'
    assert pq.read_table(pa.BufferReader(b"".join(results.as_parquet(tmp_path, result)))).num_rows == 0


def test_columns_of_the_same_name_stay_apart(store: Store, tmp_path: Path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"])
    result = store(table)
    assert "".join(results.as_tsv(tmp_path, result, headers=True)) == "n\tn\r\n1\t2\r\n"
    assert b"".join(results.as_csv(tmp_path, result)) == b'"n","n"\n1,2\n'
    assert pa.ipc.open_stream(b"".join(results.as_arrow(tmp_path, result))).read_all() == table
    parquet = pd.read_parquet(io.BytesIO(b"".join(results.as_parquet(tmp_path, result))))
    assert parquet.to_dict("records") == [{"n": 1, "n_1": 2}]


def test_many_batches_come_out_in_order(store: Store, tmp_path: Path):
    table = pa.table({"n": range(5000)})
    result = store(table)
    assert "".join(results.as_tsv(tmp_path, result, headers=False)).split() == [str(n) for n in range(5000)]
    assert pa.ipc.open_stream(b"".join(results.as_arrow(tmp_path, result))).read_all() == table


def test_arrow_is_given_out_as_it_lies_on_disk(store: Store, tmp_path: Path):
    result = store(pa.table({"n": range(5000)}))
    assert b"".join(results.as_arrow(tmp_path, result)) == (tmp_path / "result").read_bytes()


def test_a_short_result_is_read_at_once_and_a_long_one_is_not(store: Store, tmp_path: Path):
    short = store(pa.table({"x": [1]}))
    assert results.short_arrow(tmp_path, short) == b"".join(results.as_arrow(tmp_path, short))
    assert results.short_arrow(tmp_path, store(pa.table({"x": range(10_000)}))) is None


def test_a_short_result_as_text_may_be_gone(store: Store, tmp_path: Path):
    short = store(pa.table({"x": [1]}))
    text = results.short_text(tmp_path, short)
    assert text is not None
    assert pa.ipc.open_stream(b64decode(text)).read_all() == pa.table({"x": [1]})
    (tmp_path / short.file).unlink()
    assert results.short_text(tmp_path, short) is None
