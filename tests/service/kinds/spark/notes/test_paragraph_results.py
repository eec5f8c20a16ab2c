"""What a printed table becomes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from svc_jupyter.service.kinds.spark.notes.paragraph_results import RunParagraph, write_table
from svc_jupyter.service.kinds.spark.notes.statements import Message

TABLES = [
    (
        "zip\tn\tx\n01234\t1\t1.5\n20000\t-2\t2\n",
        ["string", "int64", "double"],
        [("01234", 1, 1.5), ("20000", -2, 2.0)],
    ),
    ("n\tt\nNA\tNULL\n5\tx\n", ["string", "string"], [("NA", "NULL"), ("5", "x")]),
    ("day\tis\n2020-01-31\ttrue\n", ["string", "string"], [("2020-01-31", "true")]),
    ("a\tb\tc\n1\t\tx\n\t2.5\t\n", ["int64", "double", "string"], [(1, None, "x"), (None, 2.5, None)]),
    ("id\n9007199254740993\n9223372036854775807\n", ["int64"], [(2**53 + 1,), (2**63 - 1,)]),
    ("id\n9007199254740993\n0.5\n", ["string"], [("9007199254740993",), ("0.5",)]),
    ("id\n9223372036854775808\n1\n", ["string"], [("9223372036854775808",), ("1",)]),
    (f"id\n{'1' * 5000}\n1\n", ["string"], [("1" * 5000,), ("1",)]),
    (f"x\n{'1' * 400}.5\n1\n", ["string"], [("1" * 400 + ".5",), ("1",)]),
    (f"x\n1\n-{'1' * 400}.5\n", ["string"], [("1",), ("-" + "1" * 400 + ".5",)]),
    ("a\tb\n1\n\n2\tx\ty\r\n", ["int64", "string", "string"], [(1, None, None), (2, "x", "y")]),
    ("a\n1\n\n3\n", ["int64"], [(1,), (None,), (3,)]),
    ('a\n"x\n', ["string"], [('"x',)]),
    ("a\ta\n1\tx\n", ["int64", "string"], [(1, "x")]),
    ("a\tb\n", ["string", "string"], []),
    ("\n", [], []),
]


def test_a_printed_table_has_every_row_and_only_plain_numbers_are_numbers(tmp_path: Path) -> None:
    def read(text: str) -> tuple[list[str], list[tuple[object, ...]]]:
        file = tmp_path / "rows.arrow"
        table = write_table(Message("TABLE", text), file, RunParagraph("p", 1, None, "sh"))
        written = pa.ipc.open_stream(file.read_bytes()).read_all()
        kinds = [str(kind) for kind in written.schema.types]
        rows = list(zip(*(column.to_pylist() for column in written.columns), strict=True))
        assert (table.rows, [kind for _, kind in table.columns]) == (len(rows), kinds)
        return kinds, rows

    assert [(text, *read(text)) for text, *_ in TABLES] == TABLES


def test_a_longer_line_has_columns_with_names_of_their_own(tmp_path: Path) -> None:
    table = write_table(Message("TABLE", "a\n1\n2\tx\ty\n"), tmp_path / "rows", RunParagraph("p", 1, None, "sh"))
    assert [name for name, _ in table.columns] == ["a", "column 2", "column 3"]
