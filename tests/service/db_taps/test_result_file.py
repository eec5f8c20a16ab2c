from __future__ import annotations

import resource
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from svc_jupyter.service.db_taps.failures import QueryFailure
from svc_jupyter.service.db_taps.job import PART_SUFFIX
from svc_jupyter.service.db_taps.result_file import ResultFile


def batch(**columns: list) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


def read(path: Path) -> pa.Table:
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
        return reader.read_all()


def write_often(result: ResultFile, rows: pa.RecordBatch) -> None:
    for _ in range(100):
        result.write(rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "result.arrow"


def test_batches_of_one_type_are_written_as_they_come(path):
    with ResultFile(path) as result:
        result.write(batch(a=[1]))
        result.write(batch(a=[2, 3]))
        assert result.rows == 3
        assert result.finish() == {
            "rows": 3,
            "size": path.stat().st_size,
            "columns": [["a", "int64"]],
            "notes": [],
        }
    assert read(path).to_pydict() == {"a": [1, 2, 3]}


def test_a_later_batch_of_a_wider_type_widens_what_was_written(path):
    with ResultFile(path) as result:
        result.write(batch(a=[1], b=[None]))
        result.write(batch(a=[2.5], b=[7]))
        result.write(batch(a=[None], b=["x"]))
        result.write(batch(a=[4], b=[None]))
        result.finish()
    assert read(path).to_pydict() == {"a": [1.0, 2.5, None, 4.0], "b": [None, "7", "x", None]}
    assert [str(kind) for kind in read(path).schema.types] == ["double", "string"]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("batches", "texts"),
    [
        ([[1], [2**53 + 1], [0.5]], ["1", "9007199254740993", "0.5"]),
        ([[0.5], [2**53 + 1], [2]], ["0.5", "9007199254740993", "2"]),
        ([[0.5], [Decimal("12345678901234567.89")], [1.5]], ["0.5", "12345678901234567.89", "1.5"]),
    ],
)
def test_a_column_that_would_lose_digits_as_a_floating_number_is_text(path, batches, texts):
    with ResultFile(path) as result:
        for values in batches:
            result.write(batch(a=values, b=values[:1]))
        summary = result.finish()
    assert read(path).to_pydict() == {"a": texts, "b": texts}
    assert summary is not None
    assert summary["notes"] == ["columns a, b are text: as numbers they would lose digits"]
    assert list(path.parent.iterdir()) == [path]


def test_a_column_with_a_time_that_python_does_not_have_is_text_before_and_after(path):
    days = pa.array([0, 1], pa.int32()).cast(pa.date32())
    far = pa.array([2_932_897], pa.int32()).cast(pa.date32())

    def rows(dates: pa.Array) -> pa.RecordBatch:
        nested = pa.ListArray.from_arrays(pa.array(range(len(dates) + 1), pa.int32()), dates)
        inner = pa.StructArray.from_arrays([dates, pa.array(range(len(dates)))], ["d", "n"])
        return pa.RecordBatch.from_arrays([dates, nested, inner, days[: len(dates)]], ["d", "l", "s", "near"])

    with ResultFile(path) as result:
        result.write(rows(days))
        result.write(rows(far))
        result.write(rows(far))
        result.write(rows(days[1:]))
        summary = result.finish()
    texts = ["1970-01-01", "1970-01-02", "+10000-01-01", "+10000-01-01", "1970-01-02"]
    assert read(path).to_pydict() == {
        "d": texts,
        "l": [[text] for text in texts],
        "s": [{"d": text, "n": n} for text, n in zip(texts, (0, 1, 0, 0, 0), strict=True)],
        "near": [date(1970, 1, day) for day in (1, 2, 1, 1, 1)],
    }
    assert summary is not None
    assert summary["notes"] == [
        "columns d, l, s are text: not all times are within the years 1 to 9999 and a day's 24 hours"
    ]


def test_the_first_reason_for_a_column_of_the_last_table_is_kept(path):
    with ResultFile(path) as result:
        result.write(batch(a=["x"]))
        result.became_text("a", "of a table that is not the last")
        result.discard()
        result.write(batch(b=["x"], c=["x"], d=["x"]))
        result.became_text("d", "first")
        result.became_text("d", "second")
        result.became_text("c", "other")
        result.became_text("b", "first")
        summary = result.finish()
    assert summary is not None
    assert summary["notes"] == ["columns b, d are text: first", "column c is text: other"]


def test_no_rows_keep_their_columns(path):
    with ResultFile(path) as result:
        result.write(batch(a=[1]).slice(0, 0))
        result.finish()
    assert read(path).schema == pa.schema([("a", pa.int64())])


def test_the_file_begins_with_the_first_rows_and_is_the_result(path):
    part = path.with_name(f"{path.name}{PART_SUFFIX}")
    with ResultFile(path) as result:
        result.write(batch(a=[1], b=[None]).slice(0, 0))
        assert not part.exists()
        result.write(batch(a=[1], b=["x"]))
        begun = part.stat().st_ino
        result.write(batch(a=[2], b=[None]))
        result.finish()
    assert path.stat().st_ino == begun
    assert read(path).to_pydict() == {"a": [1, 2], "b": ["x", None]}


def test_an_error_of_the_last_batch_is_reported_at_the_end(path):
    rows = batch(a=list(range(100_000)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (rows.nbytes + 4096, hard))
        with ResultFile(path) as result:
            result.write(rows)
            result.write(rows)
            with pytest.raises(QueryFailure, match="File too large"):
                result.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(path.parent.iterdir()) == []


def test_an_unfinished_result_leaves_no_file(path):
    with ResultFile(path) as result:
        result.write(batch(a=[1]))
    assert list(path.parent.iterdir()) == []


def test_without_a_table_there_is_no_file(path):
    with ResultFile(path) as result:
        assert result.finish() is None
    assert list(path.parent.iterdir()) == []


def test_a_discarded_table_makes_room_for_the_next(path):
    with ResultFile(path) as result:
        result.write(batch(a=[1]))
        result.discard()
        result.write(batch(b=["x"]))
        assert result.rows == 1
        result.finish()
    assert read(path).to_pydict() == {"b": ["x"]}


def test_rows_are_reported_as_they_come(path):
    told: list[int] = []
    with ResultFile(path, on_rows=told.append) as result:
        result.write(batch(a=[1, 2]))
        result.write(batch(a=[3]))
    assert told == [2, 3]


def test_it_stops_before_the_disk_is_full(path):
    rows = batch(a=list(range(100_000)))
    with (
        pytest.raises(QueryFailure, match=r"cannot be stored: less than .* left .* fetch fewer rows"),
        ResultFile(path, min_free_bytes=2**62) as result,
    ):
        write_often(result, rows)
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_takes_no_file_is_reported(tmp_path):
    with (
        ResultFile(tmp_path / "gone" / "result.arrow") as result,
        pytest.raises(QueryFailure, match="cannot be stored"),
    ):
        result.write(batch(a=[1]))


def test_a_disk_that_is_full_is_reported():
    result = ResultFile(Path("result.arrow"))
    result._part = Path("/dev/full")
    with pytest.raises(QueryFailure, match="No space left on device"):
        write_often(result, batch(a=list(range(10_000))))
