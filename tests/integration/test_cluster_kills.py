"""`kill -9` of the service while its cluster of real Hadoop is started, and while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.engines import engine_at_once
from tests.support.hadoop import daemon_processes, end_clusters_of, use_hadoop
from tests.support.hive import metastores_of
from tests.support.service_process import ServiceProcess, wait_until

from svc_jupyter.service.installs.engine import Engine

pytestmark = pytest.mark.timeout(600)  # the first of a session may install Hadoop


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    engine_at_once(Engine.HADOOP)
    yield tmp_path / "data"
    end_clusters_of(tmp_path / "data")


def some_run(data_dir: Path) -> set[int]:
    """Return the processes once there are several: one of them may be the formatting of the file system."""
    found = daemon_processes(data_dir)
    return found if len(found) >= 3 else set()


def state_of(service: ServiceProcess) -> dict[str, Any]:
    return dict(service.http.get("/clusters/default/state").json())


def test_a_killed_service_goes_on_with_a_start_and_finds_its_cluster_again(
    data_dir: Path, new_service: Callable[..., ServiceProcess]
):
    service = new_service(data_dir).start()
    use_hadoop(service)
    service.http.put("/clusters/default/state", json={"state": "start"})
    begun = wait_until(lambda: some_run(data_dir), "the first daemons", 120)
    service.kill()

    service = new_service(data_dir).start()
    wait_until(lambda: state_of(service)["state"] != "PENDING", "the end of the start", 240)
    state = state_of(service)
    assert state["state"] == "UP", state
    assert [node["status"] for node in state["nodes"]] == ["RUNNING"] * 3
    running = daemon_processes(data_dir)
    assert len(begun & running) > 1, "the daemons that ran already were started anew"
    assert len(running) == 5  # NameNode, DataNode, ResourceManager, two NodeManagers
    service.kill()
    assert daemon_processes(data_dir) == running

    service = new_service(data_dir).start()
    seen = {node["last_seen_time"] for node in state["nodes"]}
    wait_until(lambda: {node["last_seen_time"] for node in state_of(service)["nodes"]}.isdisjoint(seen), "a look", 60)
    assert state_of(service)["state"] == "UP"
    assert daemon_processes(data_dir) == running
    service.http.put("/clusters/default/state", json={"state": "terminate"})
    wait_until(lambda: state_of(service)["state"] == "DOWN", "the end of the cluster", 120)
    assert daemon_processes(data_dir) == set()
    assert state_of(service)["terminate_reason"] == "cluster default was terminated by admin@localhost"


def test_a_metastore_that_was_just_starting_for_a_terminated_cluster_ends_with_the_service(
    tmp_path: Path, new_service: Callable[..., ServiceProcess]
):
    for engine in (Engine.SPARK, Engine.HIVE_METASTORE):
        engine_at_once(engine)
    service = new_service(tmp_path / "data").start()
    local = {"hadoop_settings": {"use_spark": True, "custom_config": "spark.master=local[*]"}}
    response = service.http.put("/clusters/spark", json=local)
    assert response.status_code == 200, response.text
    service.http.put("/clusters/spark/state", json={"state": "start"})
    wait_until(lambda: metastores_of(service.data_dir), "the begin of the metastore", 120)
    assert service.http.get("/clusters/spark/state").json()["state"] == "PENDING"
    service.http.put("/clusters/spark/state", json={"state": "terminate"})
    assert service.stop() == 0
    assert metastores_of(service.data_dir) == []
