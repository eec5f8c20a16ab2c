"""What the daemons of a Hadoop cluster find in their files."""

from __future__ import annotations

from pathlib import PurePosixPath
from xml.etree import ElementTree

import pytest

from svc_jupyter.api.clusters import ClusterConfiguration
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.runtimes.hadoop.addresses import Addresses
from svc_jupyter.service.runtimes.hadoop.configuration import (
    NodeLayout,
    check,
    client_sites,
    file_of,
    forbidden,
    node_sites,
    tuning,
    wiring,
)
from svc_jupyter.service.runtimes.hive_server.program import forbidden as forbidden_of_hive

ADDRESSES = Addresses("127.3.4.1")
PLACE = NodeLayout("127.3.4.11", PurePosixPath("/nodes/ip-127-3-4-11"), memory_mb=4096, cores=4)


def configured(custom: str = "", **pools: str) -> ClusterConfiguration:
    return ClusterConfiguration.model_validate(
        {"hadoop_settings": {"custom_config": custom, "fairscheduler_settings": pools}}
    )


def read(content: bytes) -> dict[str, str]:
    """Return the properties of a site file."""
    root = ElementTree.fromstring(content)
    return {entry.findtext("name") or "": entry.findtext("value") or "" for entry in root}


def test_every_daemon_listens_at_its_own_nodes_address():
    settings = {key: value for file in wiring(ADDRESSES, PLACE).values() for key, value in file.items()}
    listening = {key: value for key, value in settings.items() if key.endswith(("address", "bind-host", "hostname"))}
    own = {value for key, value in listening.items() if key.startswith(("yarn.nodemanager", "dfs.datanode"))}
    assert {value.partition(":")[0] for value in own} <= {"127.3.4.11", "true"}
    assert not [value for value in listening.values() if "0.0.0.0" in value]


def test_the_users_settings_go_into_the_file_they_belong_to():
    sites = node_sites(
        ADDRESSES,
        PLACE,
        configured(
            "dfs.blocksize=1048576\nyarn.nodemanager.vmem-pmem-ratio=3\nmapreduce.map.memory.mb=256\n"
            "yarn.app.mapreduce.am.resource.mb=256\nio.file.buffer.size=4096\nmy.own=a<b&c"
        ),
    )
    assert read(sites["hdfs-site.xml"])["dfs.blocksize"] == "1048576"
    assert read(sites["yarn-site.xml"])["yarn.nodemanager.vmem-pmem-ratio"] == "3"
    assert read(sites["mapred-site.xml"])["mapreduce.map.memory.mb"] == "256"
    assert read(sites["mapred-site.xml"])["yarn.app.mapreduce.am.resource.mb"] == "256"
    core = read(sites["core-site.xml"])
    assert core["io.file.buffer.size"] == "4096"
    assert core["my.own"] == "a<b&c"


def test_settings_of_other_engines_are_not_hadoops():
    sites = node_sites(ADDRESSES, PLACE, configured("pig.exectype=mapreduce\nhive.exec.parallel=true\nspark.x=1"))
    keys = {key for content in sites.values() for key in read(content)}
    assert not [key for key in keys if key.startswith(("pig.", "hive.", "spark."))]


def test_the_container_resources_of_a_node_come_from_its_provider():
    settings = read(node_sites(ADDRESSES, PLACE, configured())["yarn-site.xml"])
    assert settings["yarn.nodemanager.resource.memory-mb"] == "4096"
    assert settings["yarn.scheduler.maximum-allocation-mb"] == "4096"
    assert settings["yarn.nodemanager.resource.cpu-vcores"] == "4"


def test_on_a_spark_cluster_memory_alone_says_how_many_containers_there_are():
    spark = configured("spark.x=1")
    spark.hadoop_settings.use_spark = True
    assert read(node_sites(ADDRESSES, PLACE, spark)["yarn-site.xml"])["yarn.nodemanager.resource.cpu-vcores"] == "32"
    spark.hadoop_settings.custom_config = "yarn.nodemanager.resource.cpu-vcores=3"
    assert read(node_sites(ADDRESSES, PLACE, spark)["yarn-site.xml"])["yarn.nodemanager.resource.cpu-vcores"] == "3"


def test_clients_get_the_cluster_and_no_folder_of_a_node():
    sites = {file: read(content) for file, content in client_sites(ADDRESSES, PurePosixPath("/i"), {}).items()}
    assert sites["core-site.xml"]["fs.defaultFS"] == "hdfs://127.3.4.1:8020"
    assert sites["yarn-site.xml"]["yarn.resourcemanager.address"] == "127.3.4.1:8032"
    assert sites["mapred-site.xml"]["mapreduce.jobhistory.address"] == "127.3.4.1:10020"
    assert not [key for site in sites.values() for key in site if key.startswith("yarn.nodemanager")]


def refusal(configuration: ClusterConfiguration) -> str:
    with pytest.raises(Invalid) as refused:
        check(configuration, forbidden_of_hive)
    return refused.value.message


def test_settings_that_wire_the_cluster_are_refused_by_name():
    keys = [
        "fs.defaultFS",
        "dfs.namenode.rpc-address",
        "dfs.datanode.http.address",
        "yarn.resourcemanager.webapp.address",
        "yarn.resourcemanager.scheduler.class",
        "yarn.nodemanager.bind-host",
        "yarn.resourcemanager.bind-host",
        "yarn.nodemanager.local-dirs",
        "mapreduce.shuffle.port",
        "yarn.app.mapreduce.am.admin-command-opts",
    ]
    assert [refusal(configured(f"dfs.replication=1\n{key}=x")) for key in keys] == [
        f"hadoop_settings.custom_config: {key} is set by the service, which wires the cluster's daemons with it: "
        "leave it out"
        for key in keys
    ]


def test_settings_that_tune_the_cluster_are_the_users():
    tuned = {key: "1" for settings in tuning(PLACE).values() for key in settings}
    assert forbidden(tuned) == []
    assert forbidden({"pig.exectype": "local", "hive.metastore.port": "1"}) == []


def test_a_prefix_names_the_file():
    files = {
        "dfs.replication": "hdfs-site.xml",
        "yarn.acl.enable": "yarn-site.xml",
        "yarn.app.mapreduce.am.job.x": "mapred-site.xml",
        "mapred.child.env": "mapred-site.xml",
        "hadoop.proxyuser.x.hosts": "core-site.xml",
    }
    assert {key: file_of(key) for key in files} == files


def test_pools_that_are_no_allocation_file_are_refused():
    pools = {
        "<allocations": "is not XML: unclosed token: line 1, column 0",
        "<queue/>": "must be <allocations>, not <queue>",
        '<!DOCTYPE a [<!ENTITY b "c">]><allocations>&b;</allocations>': "must not hold a DOCTYPE or ENTITY",
    }
    field = "hadoop_settings.fairscheduler_settings.fairscheduler_config_xml"
    assert {text: refusal(configured(fairscheduler_config_xml=text)) for text in pools} == {
        text: f"{field} {told}" for text, told in pools.items()
    }
