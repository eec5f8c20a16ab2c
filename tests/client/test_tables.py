from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_jupyter.client import UnexpectedAnswer
from svc_jupyter.client.commands.tables import (
    arrow_type,
    as_text,
    column_types,
    limited,
    lines_frame,
    lines_of,
    lines_table,
    tsv_table,
    write,
)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
def test_lines_come_back_as_they_were(lines: list[str]) -> None:
    assert lines_of("".join(f"{line}\r\n" for line in lines)) == lines


def test_a_line_keeps_a_carriage_return_and_tabs_of_its_own() -> None:
    assert lines_of("a\r\r\n\tb\r\nlast") == ["a\r", "\tb", "last"]


@pytest.mark.parametrize("lines", [[], ["a", ""]])
def test_lines_become_the_same_frame_with_and_without_arrow(lines: list[str]) -> None:
    pd.testing.assert_frame_equal(lines_frame(lines), lines_table(lines).to_pandas())


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


@pytest.mark.parametrize("qlog", [None, "", "no JSON", "{}", {"QUERY-SCHEMA": {}}, {"QUERY-SCHEMA": {"-1": [{}]}}, 7])
def test_a_qlog_that_shows_no_types_reports_none(qlog: object) -> None:
    assert column_types(qlog) == []


def test_a_qlog_may_be_an_object_and_have_another_key() -> None:
    assert column_types({"QUERY-SCHEMA": {"0": [{"ColumnType": "int"}]}}) == ["int"]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("INTEGER", pa.int64()),
        ("Double Precision", pa.float64()),
        ("numeric", pa.float64()),
        ("numeric(5, 1)", pa.decimal128(5, 1)),
        ("timestamp(3)", pa.timestamp("us")),
        ("timestamp with time zone", pa.timestamp("us", "UTC")),
        ("timestamptz", pa.timestamp("us", "UTC")),
        ("geometry", None),
    ],
)
def test_column_types_as_databases_call_them(word: str, kind: pa.DataType | None) -> None:
    assert arrow_type(word) == kind


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
    table = pa.table({"n": [1, None], "s": ["a\tb\r\nc", "d"]})
    text = as_text(table, typed=True)
    assert text == "n\ts\r\n1\ta b c\r\nNULL\td\r\n"
    assert tsv_table(text, ["int", "text"]).to_pylist() == [{"n": 1, "s": "a b c"}, {"n": None, "s": "d"}]


@pytest.mark.parametrize("form", ["arrow", "parquet", "csv"])
def test_rows_are_written_in_each_format(tmp_path: Path, form: str) -> None:
    table = pa.table({"n": [1, 2, 3]})
    file = tmp_path / "rows"
    write(table.to_batches(max_chunksize=2), table.schema, file, form)
    read = {"arrow": lambda: pa.ipc.open_stream(file.read_bytes()).read_all(), "parquet": lambda: pq.read_table(file)}
    if form == "csv":
        assert pd.read_csv(file)["n"].tolist() == [1, 2, 3]
    else:
        assert read[form]().equals(table)
