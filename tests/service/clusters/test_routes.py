"""Clusters over HTTP, on a real service; nothing here starts one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.support.service_process import ServiceProcess

KEYS = {
    "id",
    "label",
    "state",
    "enable_ganglia_monitoring",
    "disallow_cluster_termination",
    "idle_cluster_timeout",
    "node_bootstrap_file",
    "external",
    "provider",
    "security_settings",
    "cloud_settings",
    "hadoop_settings",
    "hive_settings",
    "pig_settings",
    "presto_settings",
    "node_configuration",
}


@pytest.fixture
def http(shared_service: ServiceProcess) -> Iterator[httpx.Client]:
    """A client whose paths begin with a version."""
    headers = {"X-AUTH-TOKEN": shared_service.token}
    with httpx.Client(
        base_url=f"{shared_service.base_url}/api", headers=headers, trust_env=False, timeout=90
    ) as client:
        yield client


@pytest.fixture
def etl(http: httpx.Client) -> Iterator[dict[str, Any]]:
    """A cluster of its own."""
    body = {"label": "etl", "cloud_settings": {"compute_secret_key": "s3cret"}, "unheard_of": 1, "label2": None}
    record = answer(http.post("/v1.2/clusters/", json=body))
    yield record
    http.delete(f"/v1.2/clusters/{record['id']}")


def answer(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


def refusal(response: httpx.Response, status: int) -> str:
    error = answer(response, status)["error"]
    assert error["error_code"] == status
    return str(error["error_message"])


def test_a_fresh_service_has_the_default_cluster_in_the_shape_of_the_contract(http: httpx.Client):
    for version in ("v1.2", "latest", "v1.3", "v2", "v2.0", "v2.1", "v2.2"):
        record = answer(http.get(f"/{version}/clusters/default/"))
        assert record == answer(http.get(f"/{version}/clusters/{record['id']}"))
    assert record.keys() == KEYS
    assert (record["label"], record["state"]) == (["default"], "DOWN")
    assert record["cloud_settings"]["compute_access_key"] is None
    nodes = record["node_configuration"]
    assert (nodes["initial_nodes"], nodes["max_nodes"], nodes["slave_request_type"]) == (2, 4, "ondemand")
    assert nodes["spot_instance_settings"].keys() == {
        *("maximum_bid_price_percentage", "timeout_for_request", "maximum_spot_instance_percentage"),
    }
    state = answer(http.get("/v1.2/clusters/default/state"))
    assert (state["state"], state["cluster_id"], state["nodes"]) == ("DOWN", record["id"], [])


def test_lists_are_arrays_under_the_first_version_and_pages_later(http: httpx.Client, etl: dict[str, Any]):
    for version in ("v1.2", "latest"):
        items = answer(http.get(f"/{version}/clusters"))
        assert [item["cluster"]["label"][0] for item in items] == ["etl", "spark", "presto", "default"]
    page = answer(http.get("/v1.3/clusters", params={"per_page": 1, "page": 2}))
    assert [record["label"] for record in page["clusters"]] == [["spark"]]
    assert page["paging_info"] == {"page": 2, "per_page": 1, "next_page": 3, "previous_page": 1}
    for parameters in ({"label": "etl"}, {"state": "down", "label": "etl"}):
        assert answer(http.get("/v1.2/clusters", params=parameters)) == [{"cluster": etl}]
    assert answer(http.get("/v1.2/clusters", params={"state": "UP"})) == []
    assert "state" in refusal(http.get("/v1.2/clusters", params={"state": "AWAY"}), 422)


def test_edit_clone_and_labels(http: httpx.Client, etl: dict[str, Any]):
    changes = {"hadoop_settings": {"custom_config": "a=1"}, "cloud_settings": etl["cloud_settings"]}
    edited = answer(http.put("/v1.3/clusters/etl", json=changes))
    assert edited["cloud_settings"]["compute_secret_key"] == "<hidden>"
    assert edited["hadoop_settings"] == {**etl["hadoop_settings"], "custom_config": "a=1"}
    copy = answer(http.post("/v1.2/clusters/etl/clone", json={"label": ["copy"]}))
    assert {**edited, "id": copy["id"], "label": ["copy"]} == copy
    move = {"destination_cluster": str(copy["id"]), "label": "etl"}
    assert answer(http.put("/v1.2/clusters/reassign-label", json=move)) == {
        "message": f"Label etl belongs to cluster with id {copy['id']}."
    }
    assert answer(http.get("/v1.3/clusters/etl"))["label"] == ["copy", "etl"]
    assert answer(http.delete("/v1.2/clusters/etl"))["message"] == f"Deleted cluster with id {copy['id']}."


def test_an_invalid_request_is_refused_with_the_reason(http: httpx.Client, etl: dict[str, Any]):
    assert refusal(http.get("/v1.3/clusters/nowhere"), 404) == "there is no cluster nowhere"
    assert refusal(http.get("/v1.3/clusters/999999"), 404) == "there is no cluster 999999"
    assert "is a label of cluster" in refusal(http.post("/v1.2/clusters", json={"label": ["default"]}), 422)
    wrong = {"node_configuration": {"initial_nodes": "two"}}
    assert refusal(http.put("/v1.2/clusters/etl", json=wrong), 422).startswith("node_configuration.initial_nodes")
    down = http.put("/v1.2/clusters/default/state", json={"state": "terminate"})
    assert refusal(down, 409) == "cluster default is already DOWN"
    assert refusal(http.put("/v1.2/clusters/default/state", json={"state": "stop"}), 422).startswith("state: ")
    unknown = {"command_type": "ShellCommand", "inline": "true", "label": "nowhere"}
    text = refusal(http.post("/v1.2/commands", json=unknown), 422)
    assert text == (
        "ShellCommand could not be created: no cluster has the label 'nowhere'; there are: default, etl, presto, spark"
    )
