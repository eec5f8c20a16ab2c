"""Nodes of a real Hadoop cluster over HTTP: added, removed, cancelled, through a kill of the service; its health."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.engines import engine_at_once
from tests.support.hadoop import end_clusters_of, start_cluster, use_hadoop
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.installs.engine import Engine

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service of this module's own, which may be killed; its cluster has YARN's figures."""
    engine_at_once(Engine.HADOOP)
    data_dir = tmp_path_factory.mktemp("scaled") / "data"
    service = ServiceProcess(data_dir, timeout_check_seconds=1, kill_grace_seconds=1)
    try:
        service.start()
        use_hadoop(service)
        service.http.put("/clusters/default", json={"enable_ganglia_monitoring": True}).raise_for_status()
        start_cluster(service)
        yield service
    finally:
        service.kill()
        end_clusters_of(data_dir)


def test_nodes_come_and_go_and_a_kill_of_the_service_neither_loses_nor_doubles_one(service):
    first = _workers(service)
    added = _ended(service, _add(service, "v2.2", {"node_count": 1}))
    assert (added["status"], added["message"]) == ("done", "1 node added")
    (third,) = _workers(service) - first
    log = service.logs(added["id"])
    assert f"{third}: starting its NodeManager" in log
    assert f"{third}: registered with YARN, RUNNING" in log

    with _nobody_registers(service):
        interrupted = _add(service, "v1.2", {"node_count": 2})
        wait_until(lambda: _starting(service, interrupted) == 2, "both are starting", 120)
        service.kill()
        service.start()
    assert _ended(service, interrupted)["status"] == "done"
    assert "going on with" in service.logs(interrupted["id"])
    assert len(_workers(service)) == 5

    named = _remove(service, params={"private_dns": third})
    again = service.http.request("DELETE", "/clusters/default/nodes", json={"private_dns": third})
    any_other = _remove(service)
    by_body = _remove(service, json={"parameters": {}})
    below = service.http.delete("/clusters/default/nodes")
    assert again.status_code in (404, 409)
    assert below.status_code == 409
    assert "its minimum (initial_nodes) is 2" in below.json()["error"]["error_message"]
    for record in (named, any_other, by_body):
        ended = _ended(service, record)
        assert ended["status"] == "done", ended
        assert "gone, its machine is given back" in service.logs(record["id"])
    assert _workers(service) == first
    assert not _node_managers(service, {third})


def test_an_addition_that_is_cancelled_leaves_nothing(service):
    before = _workers(service)
    with _nobody_registers(service):
        record = _add(service, "v2.2", {"node_count": 2})
        wait_until(lambda: _starting(service, record) == 2, "both are starting", 120)
        made = _workers(service) - before
        assert service.http.put(f"/commands/{record['id']}", json={"status": "kill"}).status_code == 200
    assert _ended(service, record)["status"] == "cancelled"
    assert _workers(service) == before
    assert not _node_managers(service, made)


def test_more_nodes_than_there_is_room_for_end_in_error_with_nothing_half_made(service):
    before = _workers(service)
    ended = _ended(service, _add(service, "v2.2", {"node_count": 900}))
    assert ended["status"] == "error"
    assert "workers are more than this machine can carry" in ended["message"]
    assert _workers(service) == before


@pytest.mark.parametrize("node_count", [0, -1, "three", 1.5, [], 10**9])
def test_a_count_that_is_none_is_reported_by_its_name(service, node_count):
    answer = service.http.post("/clusters/default/nodes", json={"node_count": node_count})
    assert answer.status_code == 422
    assert answer.json()["error"]["error_message"].startswith("node_count: ")


@pytest.mark.parametrize("version", ["v1.2", "latest", "v1.3", "v2", "v2.0", "v2.1", "v2.2"])
def test_health_is_live_under_every_version(service, version):
    answer = service.http.get(f"{service.base_url}/api/{version}/clusters/default/live_cluster_health")
    assert answer.status_code == 200, answer.text
    metrics = answer.json()["metrics"]
    assert (metrics["daemons"]["resourcemanager"], metrics["daemons"]["namenode"]) == ("UP", "UP")
    assert metrics["engine"]["yarn"]["memory"] == "0.0"
    assert float(metrics["system"]["master"]["disk_usage"]) > 0
    assert {one["private_dns"]: one["containers"] for one in metrics["system"]["workers"]} == dict.fromkeys(
        _workers(service), 0
    )
    assert [page["name"] for page in answer.json()["pages"]] == ["YARN"]


def test_a_daemon_that_hangs_is_down_and_holds_up_nobody(service):
    (resource_manager,) = _processes(service, "resourcemanager.ResourceManager")
    resource_manager.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: _daemons(service)["resourcemanager"] == "DOWN", "it is told as DOWN", 60)
        assert _daemons(service)["namenode"] == "UP"
        assert service.http.get("/clusters/default/live_cluster_health").json()["pages"] == []
    finally:
        resource_manager.send_signal(signal.SIGCONT)
    wait_until(lambda: _daemons(service)["resourcemanager"] == "UP", "it is told as UP again", 60)


def test_samples_are_kept_for_plots(service):
    def look() -> list[list[float]] | None:
        answer = service.http.get("/clusters/default/metrics", params={"metric": "nodes_running,cpu_usage"}).json()
        return [each["samples"] for each in answer["metrics"].values() if each["samples"]] or None

    assert wait_until(look, "there are samples", 120)


@contextmanager
def _nobody_registers(service: ServiceProcess) -> Iterator[None]:
    """Hold the ResourceManager, so that the addition of a node does not end meanwhile."""
    (resource_manager,) = _processes(service, "resourcemanager.ResourceManager")
    resource_manager.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        resource_manager.send_signal(signal.SIGCONT)


def _starting(service: ServiceProcess, record: dict[str, Any]) -> int:
    """Return how many nodes an addition has begun to start."""
    return service.logs(record["id"]).count("starting its NodeManager")


def _add(service: ServiceProcess, version: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.http.post(f"{service.base_url}/api/{version}/clusters/default/nodes", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["status"] == "waiting"
    return dict(answer.json())


def _remove(service: ServiceProcess, **given: Any) -> dict[str, Any]:
    answer = service.http.request("DELETE", "/clusters/default/nodes", **given)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def _ended(service: ServiceProcess, record: dict[str, Any]) -> dict[str, Any]:
    return service.ended(record["id"], 120)


def _workers(service: ServiceProcess) -> set[str]:
    nodes = service.http.get("/clusters/default/state").json()["nodes"]
    return {node["private_dns"] for node in nodes if node["role"] == "worker"}


def _daemons(service: ServiceProcess) -> dict[str, Any]:
    answer = service.http.get("/clusters/default/live_cluster_health")
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["metrics"]["daemons"])


def _node_managers(service: ServiceProcess, names: set[str]) -> list[psutil.Process]:
    running = _processes(service, "nodemanager.NodeManager")
    return [process for process in running if any(f"/{name}/" in " ".join(process.cmdline()) for name in names)]


def _processes(service: ServiceProcess, main_class: str) -> list[psutil.Process]:
    """Return the daemons of this service's clusters that run a class."""
    folder = str(Path(service.data_dir) / "clusters")
    found = []
    for process in psutil.process_iter():
        try:
            command = " ".join(process.cmdline())
        except psutil.Error:
            continue
        if folder in command and main_class in command:
            found.append(process)
    return found
