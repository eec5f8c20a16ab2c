"""Hive's tables and the sensors: each call is compared with the contract's own words."""

import json
from typing import Any

import httpx
import pytest
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import Invalid

PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
BASE = "/api/v1.2/hive"
COLUMNS = [{"name": "day", "type": "string", "comment": None}, {"name": "n", "type": "int", "comment": "flights"}]
PROPERTIES = {"schema": "web", "table": "visits", "partition_columns": ["day"], "properties": {"owner": "etl"}}


def test_schemas_and_tables_come_in_pages(client: Any, service: ServiceDouble) -> None:
    service.next_answers += [
        httpx.Response(200, json={"schemas": ["default", "web"], "paging_info": PAGE}),
        httpx.Response(200, json={"tables": ["visits"], "paging_info": PAGE}),
    ]
    assert client.hive.schemas().schemas == ["default", "web"]
    assert client.hive.tables("web", name="vis", page=2, per_page=5).tables == ["visits"]
    assert service.calls == [f"GET {BASE}?page=1&per_page=10", f"GET {BASE}/web?name=vis&page=2&per_page=5"]


def test_a_definition_is_a_list_of_columns(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(httpx.Response(200, json=COLUMNS))
    assert [column.model_dump() for column in client.hive.columns("web", "a/b")] == COLUMNS
    assert service.calls == [f"GET {BASE}/web/a%2Fb"]


def test_partitions_have_their_values(client: Any, service: ServiceDouble) -> None:
    partition = {"name": "day=2026-11-21", "values": {"day": "2026-11-21"}, "location": "file:/x", "created_at": None}
    service.next_answers.append(httpx.Response(200, json={"partitions": [partition], "paging_info": PAGE}))
    assert client.hive.partitions("web", "visits").partitions[0].values == {"day": "2026-11-21"}
    assert service.calls == [f"GET {BASE}/web/visits/partitions?page=1&per_page=10"]


def test_properties_are_read_set_and_removed(client: Any, service: ServiceDouble) -> None:
    service.next_answers += [httpx.Response(200, json=PROPERTIES) for _ in range(3)]
    assert client.hive.properties("web", "visits").properties == {"owner": "etl"}
    client.hive.set_properties("web", "visits", {"owner": "etl"})
    client.hive.remove_properties("web", "visits", ["owner"])
    assert [call.split()[0] for call in service.calls] == ["GET", "POST", "DELETE"]
    assert [json.loads(request.content) for request in service.requests[1:]] == [
        {"properties": {"owner": "etl"}},
        {"properties": ["owner"]},
    ]


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_sensor_answers_yes_or_no(client: Any, service: ServiceDouble, word: str) -> None:
    service.next_answers += [httpx.Response(200, json={"status": word}) for _ in range(2)]
    assert client.sensors.partition("web", "visits", {"day": "2026-11-21", "region": ["EU", "US"]}) is (word == "true")
    assert client.sensors.files("flights/a.csv", "s3://b/c") is (word == "true")
    assert service.calls == ["POST /api/v1.2/sensors/partition_sensor", "POST /api/v1.2/sensors/file_sensor"]
    assert [json.loads(request.content) for request in service.requests] == [
        {
            "schema": "web",
            "table": "visits",
            "columns": [{"column": "day", "values": ["2026-11-21"]}, {"column": "region", "values": ["EU", "US"]}],
        },
        {"files": ["flights/a.csv", "s3://b/c"]},
    ]


def test_a_sensor_on_a_missing_table_is_reported_in_the_service_s_words(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(error(422, "table web.nothing is not in the metastore"))
    with pytest.raises(Invalid, match=r"web\.nothing"):
        client.sensors.partition("web", "nothing", {"day": "x"})
