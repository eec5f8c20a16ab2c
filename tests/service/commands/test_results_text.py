"""Results that are a program's stdout: a row a line, whatever bytes it wrote."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from svc_jupyter.service.commands import results, text_lines
from svc_jupyter.service.commands.kind import ResultForm, StoredResult
from svc_jupyter.service.ground.errors import NotFound

Store = Callable[[bytes], StoredResult]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Writes a text result."""

    def store(content: bytes) -> StoredResult:
        (tmp_path / "out").write_bytes(content)
        return StoredResult(ResultForm.LINES, "out", len(content))

    return store


def arrow_lines(root: Path, result: StoredResult) -> list[str]:
    stream = b"".join(results.as_arrow(root, result))
    table = pa.ipc.open_stream(stream).read_all()
    assert table.schema == pa.schema([pa.field("line", pa.large_string(), nullable=False)])
    return table.column("line").to_pylist()


CASES = {
    "nothing": (b"", []),
    "one line": (b"a\n", ["a"]),
    "no final newline": (b"a\nb", ["a", "b"]),
    "empty lines": (b"\n\na\n\n", ["", "", "a", ""]),
    "tabs and quotes": (b'a\tb\t"c"\n,;\n', ['a\tb\t"c"', ",;"]),
    "several bytes a character": ("grün\n日本\n🦆".encode(), ["grün", "日本", "🦆"]),
    "no UTF-8": (b"a\xff\xfeb\n\xc3\n", ["a\ufffd\ufffdb", "\ufffd"]),
    "a character cut at the end": (b"a\n\xf0\x9f", ["a", "\ufffd"]),
    "NUL": (b"a\x00b\n", ["a\x00b"]),
    "other line ends": ("a\u2028b\x85c\x0bd\n".encode(), ["a\u2028b\x85c\x0bd"]),
}


def test_every_form_holds_the_same_lines(store: Store, tmp_path: Path):
    def forms(content: bytes) -> dict[str, Any]:
        result = store(content)
        as_csv = b"".join(results.as_csv(tmp_path, result)).decode()
        table = pq.read_table(pa.BufferReader(b"".join(results.as_parquet(tmp_path, result))))
        return {
            "tsv": "".join(results.as_tsv(tmp_path, result, headers=False)),
            "arrow": arrow_lines(tmp_path, result),
            "csv": list(csv.reader(io.StringIO(as_csv, newline=""))),
            "parquet": table.column("line").to_pylist(),
        }

    assert {name: forms(content) for name, (content, _) in CASES.items()} == {
        name: {
            "tsv": "".join(f"{line}\r\n" for line in lines),
            "arrow": lines,
            "csv": [["line"], *([line] for line in lines)],
            "parquet": lines,
        }
        for name, (_, lines) in CASES.items()
    }


def test_lines_have_no_header_also_where_one_is_asked_for(store: Store, tmp_path: Path):
    assert "".join(results.as_tsv(tmp_path, store(b"a\n"), headers=True)) == "a\r\n"


def test_lines_cut_by_the_reading_are_whole(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_lines, "CHUNK", 7)
    lines = ["0123456789", "", "é" * 11, "x", "🦆" * 5, ""]
    result = store("".join(f"{line}\n" for line in lines).encode())
    assert arrow_lines(tmp_path, result) == lines
    assert "".join(results.as_tsv(tmp_path, result, headers=False)).split("\r\n") == [*lines, ""]


def test_a_batch_holds_what_is_read_at_once(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_lines, "CHUNK", 1 << 10)

    def sizes(content: bytes) -> list[int]:
        reader = pa.ipc.open_stream(b"".join(results.as_arrow(tmp_path, store(content))))
        return [batch.num_rows for batch in reader]

    assert sizes(b"0123456789abcde\n" * 1000) == [64] * 15 + [40]
    assert sizes((b"x" * 2999 + b"\n") * 3) == [1, 1, 1]


def test_a_line_of_100_mb_comes_out_whole(tmp_path: Path):
    size = 100_000_000
    with (tmp_path / "out").open("wb") as file:
        for _ in range(100):
            file.write(b"x" * (size // 100))
        file.write(b"\nlast\n")
    result = StoredResult(ResultForm.LINES, "out", size + 6)
    assert sum(len(part) for part in results.as_tsv(tmp_path, result, headers=False)) == size + 8
    reader = pa.ipc.open_stream(pa.BufferReader(b"".join(results.as_arrow(tmp_path, result))))
    lengths = [len(line) for batch in reader for line in batch.column(0).to_pylist()]
    assert lengths == [size, 4]


@pytest.mark.parametrize("width", [20, 20_000])
def test_memory_stays_flat_whatever_the_size(tmp_path: Path, width: int):
    """In this process; over HTTP the integration tests look at the service's."""
    line = b"x" * (width - 1) + b"\n"
    with (tmp_path / "out").open("wb") as file:
        for _ in range(100):
            file.write(line * (1_000_000 // width))
    result = StoredResult(ResultForm.LINES, "out", 100_000_000)
    pa.total_allocated_bytes()
    before = peak = psutil.Process().memory_info().rss
    total = 0
    for number, part in enumerate(results.as_arrow(tmp_path, result)):
        total += len(part)
        if number % 8 == 0:
            peak = max(peak, psutil.Process().memory_info().rss)
    assert total > 100_000_000
    assert peak - before < 60_000_000


def test_a_result_that_somebody_removed_is_reported_so(store: Store, tmp_path: Path):
    result = store(b"a\n")
    results.check_there(tmp_path, result)
    (tmp_path / "out").unlink()
    with pytest.raises(NotFound, match="no longer on the service's disk"):
        results.check_there(tmp_path, result)


def test_a_stored_result_is_unchanged_after_a_round_trip_through_json():
    typed = StoredResult(ResultForm.ARROW, "1/result", 10, rows=3, columns=(("a", "int64"), ("b", "string")))
    text = StoredResult(ResultForm.LINES, "1/out", 0)
    for result in (typed, text):
        assert StoredResult.from_json(result.as_json()) == result
