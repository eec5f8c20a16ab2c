"""Each call is compared with the contract's own words."""

import json
from typing import Any

import httpx
import pytest
from tests.client.sending import sent
from tests.support.double.service import ServiceDouble
from tests.support.http_front import error

from svc_jupyter.client import ClusterFailed, Conflict, NotFound, WaitTimeout
from svc_jupyter.client.asynchronous import clusters

CLUSTER = {"id": 1, "label": ["default", "etl"], "state": "UP", "node_configuration": {"initial_nodes": 2}}
STATE = {"state": "UP", "cluster_id": 1, "config_id": 1, "nodes": []}
PAGE = {"page": 1, "per_page": 10, "next_page": None, "previous_page": None}
MESSAGE = {"message": "Starting cluster with id 1."}
HEALTH = {
    "cluster_id": 1,
    "cluster_inst_id": 7,
    "metrics": {
        "captured_at": "2026-11-21T20:00:00.000Z",
        "engine": {"spark": {}},
        "daemons": {
            "hive_metastore": {
                "responsiveness_status": "UP",
                "liveliness_status": "UP",
                "heap": {"usage_percent": "41.0", "status": "green"},
            },
            "namenode": "UP",
        },
        "system": {"master": {"cpu_usage": "3.0", "disk_usage": "12.0", "spotloss_count": 0}},
    },
}
METRICS = {
    "cluster_id": 1,
    "cluster_inst_id": 7,
    "interval": 60,
    "metrics": {"cpu_usage": {"unit": "percent", "samples": [(1.0, 3.0)]}},
}
BASE = "/api/v1.3/clusters"


def calls(client: Any) -> dict[str, tuple[Any, dict[str, Any], str, Any]]:
    """Return for each call: what makes it, the answer it gets, the request line and the body it sends."""
    clusters = client.clusters
    body = {"label": ["etl"], "node_configuration": {"initial_nodes": 2}}
    return {
        "list": (
            lambda: clusters.list(state="UP"),
            {"clusters": [CLUSTER], "paging_info": PAGE},
            f"GET {BASE}?page=1&per_page=10&state=UP",
            None,
        ),
        "get": (lambda: clusters.get("default"), CLUSTER, f"GET {BASE}/default", None),
        "create": (lambda: clusters.create(**body), CLUSTER, f"POST {BASE}", body),
        "update": (lambda: clusters.update(1, label=["x"]), CLUSTER, f"PUT {BASE}/1", {"label": ["x"]}),
        "clone": (lambda: clusters.clone(1, "copy"), CLUSTER, f"POST {BASE}/1/clone", {"label": ["copy"]}),
        "delete": (lambda: clusters.delete("etl"), MESSAGE, f"DELETE {BASE}/etl", None),
        "reassign": (
            lambda: clusters.reassign_label("etl", 2),
            MESSAGE,
            f"PUT {BASE}/reassign-label",
            {"destination_cluster": 2, "label": "etl"},
        ),
        "state": (lambda: clusters.state("default"), STATE, f"GET {BASE}/default/state", None),
        "start": (lambda: clusters.start("default"), MESSAGE, f"PUT {BASE}/default/state", {"state": "start"}),
        "terminate": (lambda: clusters.terminate(1), MESSAGE, f"PUT {BASE}/1/state", {"state": "terminate"}),
        "health": (lambda: clusters.health(1), HEALTH, f"GET {BASE}/1/live_cluster_health", None),
        "metrics": (
            lambda: clusters.metrics(1, "cpu_usage", "disk_usage", interval=60),
            METRICS,
            f"GET {BASE}/1/metrics?metric=cpu_usage%2Cdisk_usage&interval=60",
            None,
        ),
    }


def test_a_call_says_what_the_contract_has(client: Any, service: ServiceDouble) -> None:
    rows = calls(client)
    service.next_answers += [httpx.Response(200, json=answer) for _, answer, _, _ in rows.values()]

    records = {name: make().model_dump(exclude_unset=True) for name, (make, *_) in rows.items()}

    assert sent(service) == [(line, body) for _, _, line, body in rows.values()]
    assert records == {name: answer for name, (_, answer, _, _) in rows.items()}
    with_key = [
        name for name, request in zip(rows, service.requests, strict=True) if "Idempotency-Key" in request.headers
    ]
    assert with_key == ["create", "clone"]


def test_nodes_are_added_and_removed_by_commands(client: Any, service: ServiceDouble) -> None:
    added, removed = service.add("AddNodeCommand"), service.add("RemoveNodeCommand")
    service.next_answers += [httpx.Response(200, json=added.record), httpx.Response(200, json=removed.record)]

    commands = [client.clusters.add_nodes("etl", 2), client.clusters.remove_node(1, "ip-127-0-0-11")]

    assert [command.id for command in commands] == [added.record["id"], removed.record["id"]]
    assert service.calls == [
        "POST /api/v2.2/clusters/etl/nodes",
        "DELETE /api/v2.2/clusters/1/nodes?private_dns=ip-127-0-0-11",
    ]
    assert json.loads(service.requests[0].content) == {"node_count": 2}
    assert "Idempotency-Key" in service.requests[0].headers


def test_a_label_cannot_leave_its_place_in_the_path(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(error(404, "there is no cluster"))
    with pytest.raises(NotFound):
        client.clusters.get("../account?x=1")
    assert service.calls == ["GET /api/v1.3/clusters/..%2Faccount%3Fx%3D1"]


def test_a_service_without_states_shows_the_state_in_the_configuration(client: Any, service: ServiceDouble) -> None:
    service.next_answers += [error(404, "not found"), httpx.Response(200, json=CLUSTER)]
    state = client.clusters.state("default")
    assert (state.state, state.cluster_id, state.nodes) == ("UP", 1, [])


def test_a_service_without_samples_has_none(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(error(404, "not found"))
    assert client.clusters.metrics("default") is None


def test_the_wait_for_a_state_shows_each_look(client: Any, service: ServiceDouble, monkeypatch: Any) -> None:
    monkeypatch.setattr(clusters, "_LOOK_SECONDS", 0.001)
    looks = [STATE | {"state": "PENDING", "message": text} for text in ("0 of 2", "1 of 2")] + [STATE]
    service.next_answers += [httpx.Response(200, json=look) for look in looks]
    service.next_answers.insert(1, error(503, "the service is starting", **{"Retry-After": "0"}))
    seen: list[str | None] = []

    record = client.clusters.wait("default", on_state=lambda state: seen.append(state.message))

    assert record.state == "UP"
    assert seen == ["0 of 2", "1 of 2", None]


def test_a_start_that_fails_ends_the_wait_with_the_reason(client: Any, service: ServiceDouble) -> None:
    down = STATE | {"state": "DOWN", "terminate_reason": "port 127.1.2.1:9870 is taken"}
    service.next_answers.append(httpx.Response(200, json=down))
    with pytest.raises(ClusterFailed, match=r"port 127\.1\.2\.1:9870 is taken"):
        client.clusters.wait("default")


def test_a_wait_for_a_state_has_an_end_when_one_is_asked_for(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(httpx.Response(200, json=STATE | {"state": "PENDING"}))
    with pytest.raises(WaitTimeout, match="is not UP after 0 s; it goes on"):
        client.clusters.wait("default", timeout=0)


def test_a_refused_start_is_reported_in_the_words_of_the_service(client: Any, service: ServiceDouble) -> None:
    service.next_answers.append(error(409, "cluster default is already UP"))
    with pytest.raises(Conflict, match="already UP"):
        client.clusters.start("default")
