"""The settings of a script that runs on a cluster."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState, NodeStatus
from svc_jupyter.service.clusters.instances import Instance, Node
from svc_jupyter.service.kinds.pig.command_line import is_local, local_properties
from svc_jupyter.service.kinds.pig.on_cluster import cluster_properties
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.configuration import client_sites
from svc_jupyter.service.runtimes.hadoop.site_files import settings_in

JARS = [Path(f"/lib/{name}.jar") for name in ("pig-0.18.0", "commons-collections-3.2.2", "svc-pig-runner")]
OPTIONS = "-XX:SharedArchiveFile=/lib/hadoop.jsa"


def instance(provider: str = "local", custom_config: str = "") -> Instance:
    master = Node(1, NodeRole.MASTER, "m", "10.0.0.1", "m", "local", NodeStatus.RUNNING, 0.0, 0.0, 0.0, {})
    return Instance(
        id=1,
        cluster_id=1,
        account_id=1,
        state=ClusterState.UP,
        configuration=ClusterConfiguration.model_validate({"hadoop_settings": {"custom_config": custom_config}}),
        provider=provider,
        folder=Path("/data/clusters/1"),
        details={},
        start_at=0.0,
        up_at=0.0,
        last_used_at=0.0,
        terminate_reason=None,
        nodes=(master,),
    )


def properties(of: Instance, pool: str | None = None) -> dict[str, str]:
    sites = client_sites(Addresses.of(of), PurePosixPath("/conf"), of.configuration.custom_settings, OPTIONS)
    return cluster_properties(
        of,
        sites.values(),
        tag="svc-command-7-1",
        pool=pool,
        temporary=PurePosixPath("/tmp/x"),
        jars=JARS,
        programs=Path("/bin/udf"),
    )


def test_jobs_go_to_the_cluster_with_the_tag_by_which_they_are_found():
    told = properties(instance())

    assert told["fs.defaultFS"] == "hdfs://10.0.0.1:8020"
    assert told["yarn.resourcemanager.address"] == "10.0.0.1:8032"
    assert told["mapreduce.framework.name"] == "yarn"
    assert told["mapreduce.job.tags"] == "svc-command-7-1"
    assert told["pig.temp.dir"] == "/tmp/x"
    assert told["pig.additional.jars"] == "/lib/commons-collections-3.2.2.jar,/lib/svc-pig-runner.jar"


@pytest.mark.parametrize("key", ["yarn.app.mapreduce.am.command-opts", "mapreduce.map.java.opts"])
def test_masters_and_tasks_start_as_the_cluster_says(key):
    assert properties(instance())[key].endswith(OPTIONS)


def test_tasks_in_a_master_commit_unasked_where_no_master_can_lose_its_cluster():
    key = "mapreduce.outputcommitter.factory.class"

    assert properties(instance())[key] == "svc.jupyter.pig.InMasterCommitterFactory"
    assert key not in properties(instance(provider="hosts"))


def test_the_pool_is_the_queue_and_without_one_the_cluster_decides():
    assert properties(instance(), pool="etl")["mapreduce.job.queuename"] == "etl"
    assert "mapreduce.job.queuename" not in properties(instance())


def test_the_clusters_own_lines_count_last():
    told = properties(instance(custom_config="pig.jobcontrol.sleep=7\nmapreduce.job.ubertask.enable=false"))

    assert (told["pig.jobcontrol.sleep"], told["mapreduce.job.ubertask.enable"]) == ("7", "false")


def test_python_functions_run_in_the_services_python_where_it_is_and_in_the_nodes_elsewhere():
    here, there = properties(instance()), properties(instance(provider="hosts"))

    assert here["mapreduce.map.env"] == "PATH=/bin/udf:$PATH"
    assert here["pig.streaming.udf.python.command"] == "python-udf"
    assert there["pig.streaming.udf.python.command"] == "python3"
    assert "mapreduce.map.env" not in there


def test_the_properties_of_a_site_file_are_read_back():
    site = b"<configuration><property><name>a</name><value>1 &lt; 2</value></property></configuration>"

    assert settings_in(site) == {"a": "1 < 2"}


@pytest.mark.parametrize(
    ("settings", "local"), [({"pig.exectype": "LOCAL"}, True), ({"pig.exectype": "mr"}, False), ({}, False)]
)
def test_a_cluster_says_whether_pig_needs_its_daemons(settings, local):
    assert is_local(settings) is local


def test_local_settings_give_way_to_the_clusters():
    assert local_properties({"pig.jobcontrol.sleep": "7"}, 1)["pig.jobcontrol.sleep"] == "7"


def test_a_file_is_read_by_as_many_tasks_as_there_are_processors_up_to_four() -> None:
    tasks = [local_properties({}, count)["mapreduce.local.map.tasks.maximum"] for count in (1, 2, 64)]
    assert tasks == ["1", "2", "4"]
