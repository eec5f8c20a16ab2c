"""A result that is too large to be loaded: how large it is, its first rows, and its rows for other libraries."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import polars
import pyarrow as pa
import pytest
from tests.client.test_results import TABLE, query
from tests.support.double.service import TOKEN, ServiceDouble

from svc_jupyter.client import Client


@pytest.fixture
def service() -> ServiceDouble:
    """The double with our extensions."""
    return ServiceDouble()


@pytest.fixture
def client(service: ServiceDouble) -> Iterator[Client]:
    with Client(service.base_url, TOKEN, transport=service.transport()) as client:
        yield client


def test_the_bytes_in_pandas_are_told_from_the_first_rows(service: ServiceDouble, client: Client) -> None:
    """Each of the double's streams has some hundred bytes beside its rows."""

    def growth(table: pa.Table) -> float:
        command = query(service, table)
        result = client.commands.get(command.record["id"]).result()
        assert table.nbytes < result.nbytes < table.nbytes + 5000
        return result.pandas_nbytes() / result.nbytes

    texts = 6890  # the bytes of "row 0" to "row 999"; pandas has their ends in 8 bytes, Arrow in 4
    assert growth(TABLE) == pytest.approx((16_000 + texts + 8000) / (16_000 + texts + 4000), rel=0.001)
    price = pa.table({"price": pa.array([Decimal("1.25")] * 2000, pa.decimal128(9, 2))})
    assert growth(price) == pytest.approx((8 + sys.getsizeof(Decimal("1.25"))) / 16, rel=0.02)
    pair = pa.table({"pair": pa.array([{"a": 1.5, "b": 2.5}] * 2000)})
    one_pair = sys.getsizeof({"a": 1.5, "b": 2.5}) + 2 * sys.getsizeof(1.5)
    assert growth(pair) == pytest.approx((8 + one_pair) / 16, rel=0.1)
    assert growth(TABLE.slice(0, 0)) == 1


def test_bytes_that_are_not_known() -> None:
    bare = ServiceDouble(bare=True)
    query(bare)
    with Client(bare.base_url, TOKEN, transport=bare.transport()) as client:
        result = client.commands.get(1).result()
        assert (result.nbytes, result.pandas_nbytes()) == (None, None)


def test_the_first_rows_are_fetched_once_for_their_bytes_and_for_a_look(service: ServiceDouble, client: Client) -> None:
    query(service)
    result = client.commands.get(1).result()
    result.pandas_nbytes()
    assert result.head()["n"].tolist() == [0, 1, 2, 3, 4]
    assert result.head(1000)["name"].iloc[-1] == "row 999"
    assert sum("/results" in call for call in service.calls) == 1
    assert len(result.head(1001)) == 1001
    assert result.rows == 5000


def test_who_takes_a_result_for_a_frame_is_told_how_to_get_one(service: ServiceDouble, client: Client) -> None:
    query(service)
    result = client.commands.get(1).result()
    words = "command 1 has its rows in the service; .to_pandas() loads them as a DataFrame"
    with pytest.raises(AttributeError, match=f"a Result has no 'groupby': {re.escape(words)}"):
        getattr(result, "groupby")  # noqa: B009  a type checker knows that it is not there
    with pytest.raises(TypeError, match=f"no rows or columns to select: {re.escape(words)}"):
        result["n"]  # type: ignore[index]
    assert not hasattr(result, "shape")
    assert copy.copy(result).rows == 5000


def test_other_libraries_take_a_result_as_arrow(service: ServiceDouble, client: Client) -> None:
    query(service)
    result = client.commands.get(1).result()
    assert pa.table(result).equals(TABLE)
    assert polars.DataFrame(result).equals(polars.DataFrame(TABLE))
    assert duckdb.sql("SELECT sum(n) FROM result").fetchall() == [(12_497_500,)]
