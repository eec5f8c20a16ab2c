"""The record from what the daemons answered; the live part is in tests/integration/test_node_commands.py."""

import pytest

from svc_jupyter.api.cluster_health import HealthMetrics
from svc_jupyter.api.clusters import ClusterType
from svc_jupyter.service.clusters.cluster_engine import ServiceLook
from svc_jupyter.service.clusters.health import METRICS
from svc_jupyter.service.clusters.health_entries import ServiceState
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.health import Findings, metrics_of, pages_of, values_of
from svc_jupyter.service.runtimes.hadoop.jmx import ContainerCounters, ContainerTally, FileSystemUse, HeapUse
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnFigures

FIGURES = YarnFigures(4096, 1024, 3, 2, 1, 2)
OF_OTHER_CLUSTERS = {"presto_heap", "zeppelin_heap", "presto_workers", "queries_running", "queries_waiting"}
LOOK = ServiceState(ServiceLook(is_alive=True, is_responsive=True, heap_percent=30.0))


def _findings(**changes: object) -> Findings:
    found = {
        "yarn": FIGURES,
        "yarn_heap": HeapUse(50, 100),
        "file_system": FileSystemUse(1000, 250, 1),
        "name_node_heap": HeapUse(10, 100),
        "metastore": LOOK,
        "hive_server": None,
        "load": {"cpu_percent": 5.0, "disk_percent": 60.0},
        "containers": ContainerTally(1, 0, {"7": ContainerCounters(0, 2, 4)}),
        "busy": {"ip-127-0-0-11": 2},
    }
    return Findings(**{**found, **changes})


def test_a_hadoop_cluster_shows_its_daemons_and_yarn_in_strings():
    metrics = metrics_of(_findings(), ClusterType.HADOOP, shows_yarn=True)
    assert metrics["engine"] == {
        "yarn": {"memory": "25.0", "containers": {"pending": "2", "failed": "3", "killed": "4"}}
    }
    assert metrics["daemons"].keys() == {"hive_metastore", "resourcemanager", "namenode"}
    assert (metrics["daemons"]["resourcemanager"], metrics["daemons"]["namenode"]) == ("UP", "UP")
    assert metrics["system"]["master"] == {"cpu_usage": "5.0", "disk_usage": "60.0", "spotloss_count": 0}
    assert metrics["system"]["workers"] == [{"private_dns": "ip-127-0-0-11", "containers": 2}]
    HealthMetrics.model_validate({"captured_at": "2026-01-01T00:00:00Z", **metrics})


def test_yarn_is_shown_only_where_it_is_monitored():
    assert metrics_of(_findings(), ClusterType.HADOOP, shows_yarn=False)["engine"] == {}


def test_a_spark_cluster_shows_an_empty_spark():
    assert metrics_of(_findings(), ClusterType.SPARK, shows_yarn=False)["engine"] == {"spark": {}}


@pytest.mark.parametrize("hive_server", [LOOK, ServiceState(None)])
def test_the_hive_server_is_shown_where_it_is_switched_on(hive_server):
    daemons = metrics_of(_findings(hive_server=hive_server), ClusterType.HADOOP, shows_yarn=True)["daemons"]
    assert daemons["hs2_server"].keys() >= {"responsiveness_status", "liveliness_status", "heap"}


def test_daemons_that_did_not_answer_are_down():
    found = _findings(yarn=None, file_system=None, metastore=ServiceState(None, is_known=False))
    metrics = metrics_of(found, ClusterType.HADOOP, shows_yarn=True)
    daemons = metrics["daemons"]
    assert (daemons["resourcemanager"], daemons["namenode"]) == ("DOWN", "DOWN")
    assert daemons["hive_metastore"]["responsiveness_status"] == "DOWN"
    assert metrics["engine"]["yarn"]["memory"] == "0.0"
    assert pages_of(found, Addresses("127.0.0.1")) == {}


def test_a_resource_manager_that_answers_has_a_page():
    assert pages_of(_findings(), Addresses("127.0.0.1")) == {"YARN": "http://127.0.0.1:8088/cluster/apps"}


def test_plots_get_what_is_known_by_the_names_that_are_kept():
    values = values_of(_findings(hive_server=LOOK))
    assert values.keys() == METRICS.keys() - OF_OTHER_CLUSTERS
    assert (values["resourcemanager_heap"], values["hdfs_usage"], values["nodes_running"]) == (50.0, 25.0, 2.0)


def test_plots_get_nothing_of_what_is_not_known():
    found = _findings(yarn=None, yarn_heap=None, file_system=None, metastore=ServiceState(None), containers=None)
    assert values_of(found).keys() == {"cpu_usage", "disk_usage", "namenode_heap"}


def test_a_heap_without_a_limit_is_no_division_by_zero():
    assert HeapUse(5, 0).percent == 0.0
