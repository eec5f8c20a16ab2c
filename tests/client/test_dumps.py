"""The rows that a Pig command dumps; both clients."""

from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.support.double.records import arrow_bytes
from tests.support.double.service import ServiceDouble

from svc_jupyter.api.paths import ARROW_STREAM
from svc_jupyter.client import ResultUnavailable

LAST = pa.table({"carrier": ["UA", "AA"], "days": [[{"day": 1}], []]})
DUMPS = [
    {"alias": "a", "rows": 1, "size": 10, "columns": [["n", "int64"]]},
    {"alias": "b", "rows": 3, "size": 10, "columns": [["n", "int64"]]},
    {"alias": "a", "rows": 2, "size": 10, "columns": [["carrier", "string"]]},
]


@pytest.fixture
def service() -> ServiceDouble:
    """Dumps are an extension."""
    return ServiceDouble()


def pig(service: ServiceDouble, dumps: list[dict[str, Any]], table: pa.Table | None = None, text: str = "") -> int:
    command = service.add("PigCommand", "running", "done", outputs={"dumps": dumps, "stores": []})
    command.table, command.results = table, text
    return int(command.record["id"])


def test_the_result_is_the_last_dump_typed(client: Any, service: ServiceDouble) -> None:
    result = client.commands.get(pig(service, DUMPS, LAST)).result()
    assert result.to_arrow().equals(LAST)
    assert not [call for call in service.calls if "status_with_results" in call]  # it would bring them as text


def test_each_dump_is_read_by_its_alias_or_number(client: Any, service: ServiceDouble) -> None:
    command = client.commands.get(pig(service, DUMPS, LAST)).wait()
    assert [dump.alias for dump in command.dumps] == ["a", "b", "a"]
    for wanted, number, rows in (("b", 2, 3), (1, 1, 1), ("a", 3, 2)):
        result = command.dump(wanted)
        assert result.rows == rows
        body = httpx.Response(200, content=arrow_bytes(LAST), headers={"Content-Type": ARROW_STREAM})
        service.next_answers.append(body)
        assert result.to_arrow().equals(LAST)
        assert service.calls[-1].endswith(f"/results?dump={number}")


def test_a_chart_is_of_one_of_several_tables(client: Any, service: ServiceDouble) -> None:
    command = pig(service, DUMPS, LAST)
    column = {"name": "n", "type": "integer"}
    points = {"chart": "bar", "x": column, "y": column, "points": [], "is_cut": False, "total": 3}
    service.next_answers.append(httpx.Response(200, json=points))
    assert client.commands.points(command, "n", "n", part={"dump": "b"}).total == 3
    assert service.calls[-1] == f"GET /api/v1.2/commands/{command}/rows/points?x=n&y=n&dump=b"
    service.next_answers.append(httpx.Response(200, json={**column, "count": 3, "nulls": 0, "distinct": 3}))
    assert client.commands.column_summary(command, "a/b %", part={"table": 2}).count == 3
    assert service.calls[-1] == f"GET /api/v1.2/commands/{command}/columns/a%2Fb%20%25/summary?table=2"


def test_an_alias_that_was_not_dumped_is_reported_with_those_that_were(client: Any, service: ServiceDouble) -> None:
    command = client.commands.get(pig(service, DUMPS, LAST))
    with pytest.raises(ResultUnavailable, match="has no DUMP c; there is a, b"):
        command.dump("c")


def test_without_a_dump_the_result_is_what_was_printed(client: Any, service: ServiceDouble) -> None:
    result = client.commands.get(pig(service, [], text="a: {n: int}\r\n")).result()
    assert list(result.to_pandas()["line"]) == ["a: {n: int}"]
