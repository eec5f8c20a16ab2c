import io
import sys
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.double.commands import CommandDouble
from tests.support.double.records import BrokenStream, arrow_bytes
from tests.support.double.service import ServiceDouble

from svc_jupyter.api import paths
from svc_jupyter.client import CommandFailed, ConnectionFailed, ResultUnavailable, UnexpectedAnswer

TABLE = pa.table(
    {"n": pa.array(range(5000)), "name": pa.array([f"row {n}" for n in range(5000)]), "x": [n / 7 for n in range(5000)]}
)


def query(service: ServiceDouble, table: pa.Table = TABLE) -> CommandDouble:
    """A finished DB query, with its rows in the forms that the kind of service has."""
    command = service.add("DbTapQueryCommand", "done")
    command.table = table
    command.look()
    return command


def result_of(client: Any) -> Any:
    return client.commands.get(1).result()


@pytest.mark.both_clients
@pytest.mark.both_services
def test_rows_come_with_their_types(client: Any, service: ServiceDouble) -> None:
    query(service)
    result = result_of(client)
    assert result.to_arrow().equals(TABLE)
    assert result.rows == 5000


@pytest.mark.both_clients
def test_a_frame_is_what_pyarrow_makes_of_the_rows(client: Any, service: ServiceDouble) -> None:
    query(service)
    pd.testing.assert_frame_equal(result_of(client).to_pandas(), TABLE.to_pandas())


@pytest.mark.both_clients
def test_an_integer_beside_a_null_keeps_its_digits(connect: Any, service: ServiceDouble) -> None:
    query(service, pa.table({"n": pa.array([1239162456494753671, None], pa.int64())}))
    found = result_of(connect(service)).to_pandas()["n"]
    assert (str(found.dtype), found[0], found[1]) == ("Int64", 1239162456494753671, pd.NA)
    assert str(result_of(connect(service, dtypes="numpy")).to_pandas()["n"].dtype) == "float64"


def test_a_frame_can_be_changed_in_place(client: Any, service: ServiceDouble) -> None:
    query(service, TABLE.slice(0, 3))
    frame = result_of(client).to_pandas()
    frame.loc[0, "n"] = 42
    assert frame["n"].tolist() == [42, 1, 2]


@pytest.mark.both_clients
@pytest.mark.both_services
def test_the_first_rows_alone(client: Any, service: ServiceDouble) -> None:
    query(service)
    frame = result_of(client).to_pandas(limit=10)
    assert frame["n"].tolist() == list(range(10))
    assert len(result_of(client).to_pandas(limit=0)) == 0


@pytest.mark.both_clients
def test_the_rows_as_a_frame_of_polars(client: Any, service: ServiceDouble) -> None:
    query(service)
    assert result_of(client).to_polars().equals(polars.DataFrame(TABLE))


def test_without_polars_the_error_says_what_to_install(client: Any, service: ServiceDouble, monkeypatch: Any) -> None:
    query(service)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ModuleNotFoundError, match="pip install polars"):
        result_of(client).to_polars()


@pytest.mark.both_clients
@pytest.mark.both_services
def test_batches_add_up_to_the_rows(client: Any, service: ServiceDouble) -> None:
    query(service)
    assert pa.Table.from_batches(list(result_of(client).batches())).equals(TABLE)


@pytest.mark.both_clients
def test_an_empty_result_keeps_its_columns(client: Any, service: ServiceDouble) -> None:
    query(service, TABLE.slice(0, 0))
    frame = result_of(client).to_pandas()
    assert frame.columns.tolist() == ["n", "name", "x"]
    assert len(frame) == 0


@pytest.mark.both_services
def test_a_statement_without_rows_is_an_empty_frame(client: Any, service: ServiceDouble) -> None:
    service.add("DbTapQueryCommand", "done").look()
    assert result_of(client).to_pandas().shape == (0, 0)
    assert result_of(client).text() == ""


@pytest.mark.both_clients
@pytest.mark.both_services
def test_typed_rows_as_text_have_a_header(client: Any, service: ServiceDouble) -> None:
    query(service, TABLE.slice(0, 1))
    assert result_of(client).text() == "n\tname\tx\n0\trow 0\t0.0\n"


@pytest.mark.both_clients
def test_text_that_is_too_large_for_inline_is_streamed(connect: Any, extended: ServiceDouble) -> None:
    command = extended.add("ShellCommand", "done")
    command.table = pa.table({"line": ["a", "b\tc"]})
    command.locations = ["file:///data/1/out"]
    result = connect(extended).commands.get(1).result()
    assert result.text() == "a\nb\tc\n"
    assert result.to_pandas()["line"].tolist() == ["a", "b\tc"]


def test_a_bare_services_large_result_is_reported_by_its_place(connect: Any, bare: ServiceDouble) -> None:
    query(bare).locations = ["s3://bucket/results/1.csv"]
    result = result_of(connect(bare))
    with pytest.raises(ResultUnavailable, match=r"too large to be sent inline; it is at s3://bucket/results/1.csv"):
        result.to_pandas()


def test_results_are_fetched_where_the_record_says(connect: Any, bare: ServiceDouble) -> None:
    command = query(bare)
    command.record["meta_data"]["results_resource"] = "commands/1/results/"
    result_of(connect(bare)).text()
    assert bare.calls[-1].startswith("GET /api/v1.2/commands/1/results/?")

    command.record["meta_data"]["results_resource"] = "https://elsewhere.test/commands/1/results"
    result_of(connect(bare)).text()
    assert bare.requests[-1].url.host == "service.test"


@pytest.mark.both_clients
@pytest.mark.both_services
def test_the_result_of_a_failed_command_raises_its_failure(client: Any, service: ServiceDouble) -> None:
    service.add("ShellCommand", "error")
    with pytest.raises(CommandFailed):
        result_of(client)


@pytest.mark.both_clients
def test_a_broken_download_begins_again(connect: Any, extended: ServiceDouble) -> None:
    query(extended)
    result = result_of(connect(extended))
    headers = {"Content-Type": paths.ARROW_STREAM}
    half = arrow_bytes(TABLE)[:50_000]
    extended.next_answers.append(httpx.Response(200, stream=BrokenStream(half), headers=headers))
    assert result.to_arrow().equals(TABLE)


@pytest.mark.both_clients
def test_a_download_that_never_succeeds_fails(connect: Any, extended: ServiceDouble) -> None:
    query(extended)
    result = result_of(connect(extended))
    extended.next_answers.extend(httpx.Response(200, stream=BrokenStream(b"\xff")) for _ in range(10))
    with pytest.raises(ConnectionFailed, match="broke the connection off"):
        result.to_pandas()


@pytest.mark.both_clients
def test_an_invalid_arrow_stream_is_an_unexpected_answer(connect: Any, extended: ServiceDouble) -> None:
    query(extended)
    result = result_of(connect(extended))

    def refusal(content: bytes) -> str:
        extended.next_answers.append(httpx.Response(200, content=content, headers={"Content-Type": paths.ARROW_STREAM}))
        with pytest.raises(UnexpectedAnswer) as refused:
            result.to_arrow()
        return str(refused.value)

    refusals = [refusal(content) for content in (b"", b"no arrow at all", arrow_bytes(TABLE)[:20_000])]
    assert [text for text in refusals if "Arrow stream" not in text] == []


@pytest.mark.both_clients
@pytest.mark.both_services
def test_a_result_is_saved_whole_in_the_suffixs_format(client: Any, service: ServiceDouble, tmp_path: Path) -> None:
    query(service)
    assert result_of(client).save(tmp_path / "rows.arrow") == tmp_path / "rows.arrow"
    read = pa.ipc.open_stream(io.BytesIO((tmp_path / "rows.arrow").read_bytes())).read_all()
    assert read.equals(TABLE)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.arrow"]


def test_a_bare_services_result_is_saved_as_parquet_too(connect: Any, bare: ServiceDouble, tmp_path: Path) -> None:
    query(bare)
    result_of(connect(bare)).save(tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").equals(TABLE)


@pytest.mark.both_clients
def test_an_extended_service_writes_the_csv_itself(connect: Any, extended: ServiceDouble, tmp_path: Path) -> None:
    query(extended)
    result_of(connect(extended)).save(str(tmp_path / "rows"), "csv")
    assert (tmp_path / "rows").read_bytes() == b"a,b\r\n1,x\r\n"


@pytest.mark.both_clients
def test_lines_are_saved_as_text(client: Any, service: ServiceDouble, tmp_path: Path) -> None:
    service.add("ShellCommand", "done").results = "a\r\nb\r\n"
    client.commands.get(1).result().save(tmp_path / "lines.txt")
    assert (tmp_path / "lines.txt").read_bytes() == b"a\nb\n"


def test_a_format_that_is_not_known_is_refused(client: Any, service: ServiceDouble, tmp_path: Path) -> None:
    query(service)
    with pytest.raises(ValueError, match="arrow, parquet, csv or text"):
        result_of(client).save(tmp_path / "rows.xlsx")


@pytest.mark.both_clients
def test_a_save_that_fails_leaves_nothing_behind(connect: Any, extended: ServiceDouble, tmp_path: Path) -> None:
    query(extended)
    result = result_of(connect(extended))
    extended.next_answers.extend(httpx.Response(200, stream=BrokenStream(b"half")) for _ in range(10))
    with pytest.raises(ConnectionFailed):
        result.save(tmp_path / "rows.csv")
    assert list(tmp_path.iterdir()) == []
