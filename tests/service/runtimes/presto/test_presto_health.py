"""The health of a Presto cluster out of what its servers say."""

from __future__ import annotations

from dataclasses import replace

from svc_jupyter.service.clusters.cluster_engine import ServiceLook
from svc_jupyter.service.clusters.health_entries import ServiceState
from svc_jupyter.service.runtimes.presto.presto_rest import (
    ClusterFigures,
    Findings,
    ServerStatus,
    metrics_of,
    pages_of,
    parse_announced,
    parse_status,
    parse_tasks,
    values_of,
)

WELL = Findings(
    figures=ClusterFigures(active_workers=2, running_queries=1, waiting_queries=3),
    coordinator=ServerStatus(heap_used=20, heap_maximum=100),
    workers=[ServerStatus(40, 200), ServerStatus(190, 200)],
    metastore=ServiceState(ServiceLook(is_alive=True, is_responsive=True, heap_percent=33.0)),
    load={"cpu_percent": 12.34, "disk_percent": 50.0},
)


def test_a_cluster_that_is_well():
    metrics = metrics_of(WELL)
    assert metrics["engine"] == {"presto": {"status": "UP", "heap": {"usage_percent": "50.0", "status": "green"}}}
    assert metrics["daemons"]["zeppelin"] == {"status": "UP", "heap": {"usage_percent": "20.0", "status": "green"}}
    assert metrics["daemons"]["hive_metastore"]["responsiveness_status"] == "UP"
    assert metrics["system"]["master"] == {"cpu_usage": "12.3", "disk_usage": "50.0", "spotloss_count": 0}
    assert set(metrics["daemons"]) == {"hive_metastore", "zeppelin"}
    assert values_of(WELL)["queries_waiting"] == 3
    assert pages_of(WELL, "http://127.0.0.1:8080") == {"Presto": "http://127.0.0.1:8080/ui/"}


def test_without_workers_the_engine_is_down_and_the_statement_endpoint_up():
    metrics = metrics_of(replace(WELL, figures=ClusterFigures(0, 0, 0), workers=[]))
    assert metrics["engine"]["presto"]["status"] == "DOWN"
    assert metrics["daemons"]["zeppelin"]["status"] == "UP"


def test_a_silent_coordinator_is_down_with_a_red_heap():
    silent = replace(
        WELL, figures=None, coordinator=None, workers=[], metastore=ServiceState(None, is_known=False), load={}
    )
    metrics = metrics_of(silent)
    assert metrics["engine"]["presto"] == {"status": "DOWN", "heap": {"usage_percent": "0.0", "status": "red"}}
    assert metrics["daemons"]["zeppelin"]["status"] == "DOWN"
    assert values_of(silent) == {}
    assert pages_of(silent, "http://127.0.0.1:8080") == {}


def test_the_heap_sizes_are_read_from_the_status_of_a_server():
    assert parse_status({"heapUsed": 10, "heapAvailable": 40, "memoryInfo": {}}) == ServerStatus(10, 40)


def test_queries_at_work_are_those_with_a_task_that_is_not_over():
    states = {"q1.1.0.0.0": "RUNNING", "q1.0.0.0.0": "FINISHED", "q2.0.0.0.0": "PLANNED", "q3.0.0.0.0": "ABORTED"}
    told = [{"taskId": name, "taskStatus": {"state": state}} for name, state in states.items()]
    assert parse_tasks(told) == {"q1", "q2"}


def test_announced_servers_are_known_by_their_addresses():
    services = [{"properties": {"http": "http://127.1.1.1:8080"}}, {"properties": {"http": "http://127.1.1.11:8080"}}]
    assert parse_announced({"services": services}) == {"127.1.1.1", "127.1.1.11"}
