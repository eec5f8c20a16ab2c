from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.client import UnexpectedAnswer
from svc_jupyter.client.commands.tables import (
    Dtypes,
    arrow_type,
    as_text,
    column_types,
    frame,
    limited,
    lines_frame,
    lines_of,
    lines_table,
    messages,
    tsv_table,
    write,
)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
def test_lines_come_back_as_they_were(lines: list[str]) -> None:
    assert lines_of("".join(f"{line}\r\n" for line in lines)) == lines


def test_a_line_keeps_a_carriage_return_and_tabs_of_its_own() -> None:
    assert lines_of("a\r\r\n\tb\r\nlast") == ["a\r", "\tb", "last"]


def test_lines_become_the_same_frame_with_and_without_arrow() -> None:
    pd.testing.assert_frame_equal(lines_frame([]), lines_table([]).to_pandas())
    pd.testing.assert_frame_equal(lines_frame(["a", ""]), lines_table(["a", ""]).to_pandas())


def test_text_is_typed_by_the_query_schema() -> None:
    qlog = (
        '{"QUERY-SCHEMA": {"-1": [{"ColumnName": "n", "ColumnType": "bigint"}, {"ColumnName": "x", "ColumnType": '
        '"double"}, {"ColumnName": "ok", "ColumnType": "boolean"}, {"ColumnName": "s", "ColumnType": "varchar(20)"}, '
        '{"ColumnName": "d", "ColumnType": "date"}, {"ColumnName": "t", "ColumnType": "timestamp"}, '
        '{"ColumnName": "p", "ColumnType": "decimal(10,2)"}]}, "messages": []}'
    )
    text = (
        "n\tx\tok\ts\td\tt\tp\r\n"
        "1\t2.5\ttrue\t\t2026-11-21\t2026-11-21 09:00:00\t3.50\r\n"
        "NULL\t\t0\t\\N\tNULL\tNULL\tNULL\r\n"
    )
    table = tsv_table(text, column_types(qlog))
    assert [str(kind) for kind in table.schema.types] == [
        "int64",
        "double",
        "bool",
        "string",
        "date32[day]",
        "timestamp[us]",
        "decimal128(10, 2)",
    ]
    assert table["n"].to_pylist() == [1, None]
    assert table["x"].to_pylist() == [2.5, None]
    assert table["ok"].to_pylist() == [True, False]
    assert table["s"].to_pylist() == ["", None]


def test_values_that_do_not_fit_their_type_stay_text() -> None:
    table = tsv_table("n\tok\r\n12x\tmaybe\r\n", ["int", "boolean"])
    assert table.to_pylist() == [{"n": "12x", "ok": "maybe"}]


def test_exact_numbers_of_unknown_digits_keep_theirs() -> None:
    table = tsv_table("n\tx\r\n1239162456494753671.25\tNaN\r\n-0.000000000001\t1\r\n", ["numeric", "NUMBER(40)"])
    assert table["n"].to_pylist() == [Decimal("1239162456494753671.25"), Decimal("-0.000000000001")]
    assert table["x"].to_pylist() == ["NaN", "1"]


def test_without_a_schema_everything_is_text() -> None:
    assert tsv_table("zip\r\n00123\r\n", []).to_pylist() == [{"zip": "00123"}]


def test_an_empty_result_keeps_its_columns_and_their_types() -> None:
    table = tsv_table("n\ts\r\n", ["int", "text"])
    assert table.num_rows == 0
    assert table.schema.names == ["n", "s"]
    assert table.schema.types == [pa.int64(), pa.string()]
    assert tsv_table("", []).num_columns == 0


def test_rows_of_different_lengths_are_an_unexpected_answer() -> None:
    with pytest.raises(UnexpectedAnswer, match="do not all have 2 fields"):
        tsv_table("a\tb\r\n1\r\n", [])


def test_a_qlog_that_shows_no_types_reports_none() -> None:
    qlogs: list[Any] = [None, "", "no JSON", "{}", {"QUERY-SCHEMA": {}}, {"QUERY-SCHEMA": {"-1": [{}]}}, 7]
    assert [(qlog, column_types(qlog)) for qlog in qlogs] == [(qlog, []) for qlog in qlogs]


def test_messages_of_a_qlog_are_its_texts() -> None:
    wanted: list[tuple[Any, list[str]]] = [
        ('{"QUERY-SCHEMA": {}, "messages": ["column a is text"]}', ["column a is text"]),
        ({"messages": ["a", {"level": 1}, None, "b"]}, ["a", "b"]),
        *((qlog, []) for qlog in (None, "", "no JSON", "[]", "{}", {"messages": None}, {"messages": 7}, 7)),
    ]
    assert [(qlog, messages(qlog)) for qlog, _ in wanted] == wanted


def test_a_qlog_may_be_an_object_and_have_another_key() -> None:
    assert column_types({"QUERY-SCHEMA": {"0": [{"ColumnType": "int"}]}}) == ["int"]


TYPES = {
    "INTEGER": pa.int64(),
    "Double Precision": pa.float64(),
    "numeric": pa.decimal128(38, 9),
    "numeric(5, 1)": pa.decimal128(5, 1),
    "timestamp(3)": pa.timestamp("us"),
    "timestamp with time zone": pa.timestamp("us", "UTC"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "geometry": None,
}


def test_column_types_as_databases_call_them() -> None:
    assert {word: arrow_type(word) for word in TYPES} == TYPES


LARGE = 1239162456494753671
"""An integer with more digits than a float holds."""


def test_integers_and_booleans_keep_their_values_and_their_type_beside_a_null() -> None:
    table = pa.table(
        {
            "id": pa.array([LARGE, None], pa.int64()),
            "small": pa.array([None, 1], pa.int8()),
            "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
            "flag": pa.array([True, None], pa.bool_()),
            "nothing": pa.array([None, None], pa.int32()),
            "real": pa.array([0.5, None], pa.float64()),
            "whole": pa.array([LARGE, 2], pa.int64()),
        }
    )
    made = frame(table)
    assert made.dtypes.map(str).to_dict() == {
        "id": "Int64",
        "small": "Int8",
        "unsigned": "UInt64",
        "flag": "boolean",
        "nothing": "Int32",
        "real": "float64",
        "whole": "int64",
    }
    assert made.iloc[0, :4].tolist() == [1239162456494753671, pd.NA, 18446744073709551615, True]
    assert made["id"].isna().tolist() == [False, True]


VALUES: list[tuple[pa.DataType, object, object]] = [
    (pa.list_(pa.int64()), [LARGE, None], [1239162456494753671, None]),
    (pa.list_(pa.list_(pa.int64())), [[LARGE, None]], [[1239162456494753671, None]]),
    (pa.map_(pa.string(), pa.int64()), [("a", LARGE), ("b", None)], [("a", 1239162456494753671), ("b", None)]),
    (pa.struct([("a", pa.list_(pa.int64()))]), {"a": [LARGE, None]}, {"a": [1239162456494753671, None]}),
    (pa.list_(pa.bool_()), [True, None], [True, None]),
]


def test_integers_beside_a_null_within_a_value_keep_their_digits() -> None:
    def read(kind: pa.DataType, value: object) -> Any:
        return _as_lists(frame(pa.table({"x": pa.array([value], kind)}))["x"][0])

    assert [(kind, read(kind, value)) for kind, value, _ in VALUES] == [(kind, wanted) for kind, _, wanted in VALUES]


def test_a_struct_whose_field_is_null_in_another_row_keeps_its_digits() -> None:
    kind = pa.struct([("a", pa.int64())])
    made = frame(pa.table({"x": pa.array([{"a": LARGE}, {"a": None}], kind)}))
    assert made["x"].tolist() == [{"a": 1239162456494753671}, {"a": None}]


INSTANTS: list[tuple[Dtypes, Literal["us", "ns"], int, datetime]] = [
    ("nullable", "us", 1_580_425_323_000_000, datetime(2020, 1, 30, 23, 2, 3, tzinfo=UTC)),
    ("numpy", "us", 1_580_425_323_000_000, datetime(2020, 1, 30, 23, 2, 3, tzinfo=UTC)),
    ("nullable", "ns", 1_580_425_323_000_000_001, pd.Timestamp("2020-01-30 23:02:03.000000001", tz="UTC")),
]


def test_instants_within_a_value_keep_their_zone_and_their_nanoseconds() -> None:
    def read(dtypes: Dtypes, unit: Literal["us", "ns"], number: int) -> tuple[list[Any], ...]:
        kind = pa.timestamp(unit, "UTC")
        instant = pa.scalar(number, pa.int64()).cast(kind)
        within = pa.struct([("l", pa.list_(kind)), ("m", pa.map_(pa.string(), kind)), ("t", kind)])
        value = {"l": [instant, None], "m": [("k", instant)], "t": instant}
        made = frame(pa.table({"x": pa.array([value], within), "l": pa.array([[instant]], pa.list_(kind))}), dtypes)
        whole = made["x"][0]
        return list(made["l"][0]), list(whole["l"]), whole["m"], [whole["t"]]

    wanted = [([at], [at, None], [("k", at)], [at]) for *_, at in INSTANTS]
    assert [read(dtypes, unit, number) for dtypes, unit, number, _ in INSTANTS] == wanted


def test_nanoseconds_without_a_zone_and_lengths_of_time_within_a_value_are_no_numbers() -> None:
    kind = pa.struct([("t", pa.timestamp("ns")), ("d", pa.duration("ns"))])
    made = frame(pa.table({"x": pa.array([{"t": 1, "d": 1}], kind)}))
    assert made["x"][0] == {"t": pd.Timestamp("1970-01-01 00:00:00.000000001"), "d": pd.Timedelta(1, "ns")}


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
def test_any_integers_come_back_as_they_were(numbers: list[int | None]) -> None:
    column = frame(pa.table({"n": pa.array(numbers, pa.int64())}))["n"]
    assert [None if number is pd.NA else number for number in column.tolist()] == numbers


def test_columns_of_the_same_name_keep_their_own_types() -> None:
    made = frame(pa.table([pa.array([1, None]), pa.array(["x", None]), pa.array([None, True])], names=["a", "a", "a"]))
    assert list(made.columns) == ["a", "a", "a"]
    assert [str(kind) for kind in made.dtypes] == ["Int64", "str", "boolean"]


def test_with_numpy_s_types_a_null_makes_floats_and_objects() -> None:
    made = frame(pa.table({"n": pa.array([1, None]), "b": pa.array([True, None])}), "numpy")
    assert made.dtypes.map(str).to_dict() == {"n": "float64", "b": "object"}


def _as_lists(value: Any) -> Any:
    """Return a nested value with lists instead of NumPy's arrays."""
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return [_as_lists(item) for item in value.tolist()]
    return value


def test_no_more_batches_are_read_than_a_limit_needs() -> None:
    read = []

    def batches():  # type: ignore[no-untyped-def]
        for start in range(0, 100, 10):
            read.append(start)
            yield pa.record_batch({"n": list(range(start, start + 10))})

    assert sum(batch.num_rows for batch in limited(batches(), 15)) == 15
    assert read == [0, 10]
    assert list(limited(batches(), 0)) == []


def test_a_table_as_text_is_read_back() -> None:
    table = pa.table({"n": [1, None], "a\tb": ["a\tb\r\nc", "d"]})
    text = as_text(table, typed=True)
    assert text == "n\ta b\r\n1\ta b c\r\nNULL\td\r\n"
    assert tsv_table(text, ["int", "text"]).to_pylist() == [{"n": 1, "a b": "a b c"}, {"n": None, "a b": "d"}]


def test_values_are_text_as_the_service_sends_them() -> None:
    table = pa.table(
        {
            "b": [True, False],
            "x": [b"\x00\xff", None],
            "l": [[1, None], None],
            "s": [{"d": date(2020, 1, 2)}, None],
            "f": pa.array([0.1, None], pa.float32()),
        }
    )
    assert as_text(table, typed=True) == (
        'b\tx\tl\ts\tf\r\ntrue\t00ff\t[1, null]\t{"d": "2020-01-02"}\t0.1\r\nfalse\tNULL\tNULL\tNULL\tNULL\r\n'
    )


def test_a_csv_file_has_text_for_what_csv_lacks(tmp_path: Path) -> None:
    kind = pa.map_(pa.string(), pa.int32())
    table = pa.table({"l": [[1, None]], "m": pa.array([[("k", 1)]], kind), "b": [b"\x00"], "n": [1]})
    write(table.to_batches(), table.schema, tmp_path / "rows", "csv")
    assert (tmp_path / "rows").read_text() == '"l","m","b","n"\n"[1, null]","[[""k"", 1]]","00",1\n'


def test_a_parquet_file_has_a_name_once_as_its_readers_want(tmp_path: Path) -> None:
    names = ["a", "a", "a_1", "b", "a"]
    table = pa.Table.from_arrays([pa.array([number]) for number in range(5)], names=names)
    write(table.to_batches(), table.schema, tmp_path / "rows", "parquet")
    assert pd.read_parquet(tmp_path / "rows").to_dict("records") == [{"a": 0, "a_2": 1, "a_1": 2, "b": 3, "a_3": 4}]


def test_rows_are_written_in_each_format(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3]})
    for form in ("arrow", "parquet", "csv"):
        write(table.to_batches(max_chunksize=2), table.schema, tmp_path / form, form)
    assert pa.ipc.open_stream((tmp_path / "arrow").read_bytes()).read_all().equals(table)
    assert pq.read_table(tmp_path / "parquet").equals(table)
    assert pd.read_csv(tmp_path / "csv")["n"].tolist() == [1, 2, 3]
