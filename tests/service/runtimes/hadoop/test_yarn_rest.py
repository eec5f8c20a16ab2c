"""Answers of YARN as values."""

import pytest

from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.yarn_rest import (
    application_of,
    parse_applications,
    parse_figures,
    parse_holding,
    parse_nodes,
)


def _node(host: str, state: str, containers: int = 0) -> dict[str, object]:
    return {"nodeHostName": host, "state": state, "numContainers": containers}


def _container(number: int, application: int, state: str) -> dict[str, str]:
    return {"id": f"container_e02_1700000000000_{application:04}_01_{number:06}", "state": state}


def test_the_figures_report_memory_in_percent():
    told = {"totalMB": 4096, "allocatedMB": 1024, "containersAllocated": 3, "containersPending": 2}
    figures = parse_figures({"clusterMetrics": {**told, "appsRunning": 1, "activeNodes": 2}})
    assert figures.memory_percent == 25.0
    assert (figures.containers_running, figures.containers_pending) == (3, 2)


def test_a_cluster_without_nodes_uses_no_memory():
    told = {"totalMB": 0, "allocatedMB": 0, "containersAllocated": 0, "containersPending": 0}
    assert parse_figures({"clusterMetrics": {**told, "appsRunning": 0, "activeNodes": 0}}).memory_percent == 0.0


def test_a_node_that_came_back_hides_its_earlier_life():
    lives = [_node("127.1.1.11", "DECOMMISSIONED"), _node("127.1.1.11", "RUNNING", 2)]
    found = [parse_nodes({"nodes": {"node": order}})["127.1.1.11"] for order in (lives, lives[::-1])]
    assert [(node.is_active, node.containers) for node in found] == [(True, 2), (True, 2)]


def test_a_node_that_went_is_not_active():
    found = parse_nodes({"nodes": {"node": [_node("127.1.1.11", "LOST")]}})
    assert not found["127.1.1.11"].is_active


def test_no_nodes_are_no_error():
    assert [parse_nodes(answer) for answer in ({"nodes": None}, {"nodes": {}}, {})] == [{}, {}, {}]


def test_applications_are_named_as_users_know_them():
    told = {"id": "application_1700000000000_0001", "name": "word count", "state": "RUNNING", "progress": 50.0}
    (application,) = parse_applications({"apps": {"app": [told]}})
    assert str(application) == "application_1700000000000_0001 (word count)"
    assert parse_applications({"apps": None}) == []


def test_a_node_holds_running_containers_and_the_outputs_of_applications_that_go_on():
    containers = {"container": [_container(1, 1, "RUNNING"), _container(2, 1, "DONE"), _container(3, 2, "DONE")]}
    applications = {
        "app": [
            {"id": "application_1700000000000_0001", "state": "RUNNING"},
            {"id": "application_1700000000000_0002", "state": "RUNNING"},
            {"id": "application_1700000000000_0003", "state": "FINISHED"},
        ]
    }
    holding = parse_holding({"containers": containers}, {"apps": applications})
    assert holding.containers == {"application_1700000000000_0001": 1, "application_1700000000000_0002": 0}
    assert holding.running == 1


def test_an_idle_node_holds_nothing():
    assert not parse_holding({"containers": {}}, {"apps": {}}).containers


def test_a_container_names_its_application():
    containers = [f"container_{epoch}1700000000000_0003_01_000002" for epoch in ("e17_", "")]
    assert [application_of(container) for container in containers] == ["application_1700000000000_0003"] * 2


def test_an_invalid_container_id_is_reported():
    with pytest.raises(DaemonSilent, match="'nonsense' is not the id of a container"):
        application_of("nonsense")
