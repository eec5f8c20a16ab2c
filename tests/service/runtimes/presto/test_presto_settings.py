"""What the lines of a Presto cluster's custom_config mean."""

from __future__ import annotations

import pytest

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.service.ground.errors import Invalid
from svc_jupyter.service.runtimes.presto.settings import CustomSettings, custom_settings


def settings_of(*lines: str) -> CustomSettings:
    presto = {"enable_presto": True, "custom_config": "\n".join(lines)}
    return custom_settings(ClusterConfiguration.model_validate({"presto_settings": presto}))


def test_lines_go_where_their_first_word_says():
    found = settings_of("query.max-memory=1GB", "coordinator.query.max-history=10", "worker.task.max-drivers=2")
    assert found.of_nodes == {
        NodeRole.MASTER: {"query.max-memory": "1GB", "query.max-history": "10"},
        NodeRole.WORKER: {"query.max-memory": "1GB", "task.max-drivers": "2"},
    }


def test_catalogues_and_memory():
    found = settings_of(
        "catalog.sales.db-tap=7",
        "catalog.sales.metadata-cache-ttl=1m",
        "catalog.more.connector.name=tpch",
        "catalog.hive.hive.max-split-size=1MB",
        "jvm.max-heap=2G",
    )
    assert found.taps == {"sales": 7}
    assert found.catalogs == {
        "sales": {"metadata-cache-ttl": "1m"},
        "more": {"connector.name": "tpch"},
        "hive": {"hive.max-split-size": "1MB"},
    }
    assert found.heap_megabytes == 2048


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("node.id=x", "node.id is set by the service"),
        ("coordinator=false", "coordinator is set by the service"),
        ("worker.http-server.http.port=1", "worker.http-server.http.port is set by the service"),
        ("discovery.uri=http://elsewhere", "discovery.uri is set by the service"),
        ("plugin.dir=/tmp", "plugin.dir is set by the service"),
        ("catalog.config-dir=/tmp", "catalog.config-dir is set by the service"),
        ("catalog.Sales.db-tap=1", "a NAME of small letters"),
        ("catalog.system.db-tap=1", "other than system"),
        ("catalog.sales=1", "not of the form catalog.NAME.KEY"),
        ("catalog.hive.db-tap=1", "has a catalogue hive of its own"),
        ("catalog.sales.db-tap=one", "must be the id of a DB tap"),
        ("catalog.sales.connection-password=x", "make a DB tap"),
        ("catalog.sales.connector.name=cassandra", "needs a db-tap, or a connector.name of"),
        ("catalog.hive.connector.name=tpch", "leave it out"),
        ("jvm.max-heap=100m", "at least 512m"),
        ("jvm.max-heap=much", "must be a size"),
    ],
)
def test_a_setting_that_would_break_the_cluster_is_refused(line: str, reason: str):
    with pytest.raises(Invalid, match=reason) as caught:
        settings_of(line)
    assert caught.value.message.startswith("presto_settings.custom_config: ")
