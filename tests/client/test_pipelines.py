"""Each call is compared with the contract's own words."""

from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import Conflict

DATA = {
    "id": 3,
    "type": "pipeline",
    "attributes": {
        "name": "orders",
        "status": "draft",
        "created_at": "2026-11-21T10:00:00Z",
        "updated_at": "2026-11-21T10:00:00Z",
        "owner_name": "ann@example.com",
        "create_type": "code",
    },
}
ONE = {"data": DATA, "meta": {}}
BASE = "/api/v1.2/pipelines"


def calls(client: Any) -> dict[str, tuple[Any, str, Any]]:
    """Return for each call: what makes it, the request line and the body it sends."""
    pipelines = client.pipelines
    return {
        "create": (
            lambda: pipelines.create("orders", code="1"),
            f"POST {BASE}",
            {"name": "orders", "code": "1"},
        ),
        "get": (lambda: pipelines.get(3), f"GET {BASE}/3", None),
        "update": (lambda: pipelines.update(3, description="d"), f"PUT {BASE}/3", {"description": "d"}),
        "start": (lambda: pipelines.start(3), f"PUT {BASE}/3/start", None),
        "pause": (lambda: pipelines.pause(3), f"PUT {BASE}/3/pause", None),
        "archive": (lambda: pipelines.archive(3), f"PUT {BASE}/3/archive", None),
        "delete": (lambda: pipelines.delete(3), f"PUT {BASE}/3/delete", None),
    }


def test_a_call_says_what_the_contract_has(client: Any, service: ServiceDouble) -> None:
    rows = calls(client)
    service.next_answers += [httpx.Response(200, json=ONE) for _ in rows]

    records = {name: make().model_dump(exclude_unset=True) for name, (make, *_) in rows.items()}

    assert sent(service) == [(line, body) for _, line, body in rows.values()]
    assert records == dict.fromkeys(rows, DATA)


def test_all_pipelines_are_walked_through_page_by_page(client: Any, service: ServiceDouble) -> None:
    for page, ids in ((1, [3, 2]), (2, [1])):
        meta = {"page": page, "per_page": 100, "next_page": 2 if page == 1 else None, "previous_page": None}
        service.next_answers.append(httpx.Response(200, json={"data": [DATA | {"id": n} for n in ids], "meta": meta}))

    assert [pipeline.id for pipeline in client.pipelines.iter("draft", "active")] == [3, 2, 1]
    assert service.calls[0] == f"GET {BASE}?filter=draft%2Cactive&page=1&per_page=100"


def test_a_service_that_reports_no_pages_has_one(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(httpx.Response(200, json={"data": [DATA], "meta": {}}))

    assert [pipeline.id for pipeline in client.pipelines.iter()] == [3]


def test_an_active_pipeline_is_not_deleted(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(error(409, "pipeline 3 (orders) is active: command 7 runs it"))

    with pytest.raises(Conflict, match="command 7 runs it"):
        client.pipelines.delete(3)
