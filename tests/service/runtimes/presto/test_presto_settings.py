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


WIRED = "is set by the service, which wires the cluster's nodes with it: leave it out"
FORM = "is not of the form catalog.NAME.KEY, with a NAME of small letters, digits and '_' other than system"
HEAP = "jvm.max-heap must be a size of at least 512m, such as 2g"
REFUSED = {
    "node.id=x": f"node.id {WIRED}",
    "coordinator=false": f"coordinator {WIRED}",
    "worker.http-server.http.port=1": f"worker.http-server.http.port {WIRED}",
    "discovery.uri=http://elsewhere": f"discovery.uri {WIRED}",
    "plugin.dir=/tmp": f"plugin.dir {WIRED}",
    "catalog.config-dir=/tmp": f"catalog.config-dir {WIRED}",
    "catalog.Sales.db-tap=1": f"catalog.Sales.db-tap {FORM}",
    "catalog.system.db-tap=1": f"catalog.system.db-tap {FORM}",
    "catalog.sales=1": f"catalog.sales {FORM}",
    "catalog.hive.db-tap=1": (
        "catalog.hive.db-tap: every cluster has a catalogue hive of its own; choose another name"
    ),
    "catalog.sales.db-tap=one": "catalog.sales.db-tap must be the id of a DB tap",
    "catalog.sales.connection-password=x": (
        "catalog.sales.connection-password is set by the service; for the tables of a database make a DB tap, "
        "and name it by catalog.sales.db-tap"
    ),
    "catalog.sales.connector.name=cassandra": (
        "catalog.sales needs a db-tap, or a connector.name of hive-hadoop2, memory, postgresql, tpch"
    ),
    "catalog.hive.connector.name=tpch": "catalog.hive.connector.name is set by the service: leave it out",
    "jvm.max-heap=100m": HEAP,
    "jvm.max-heap=much": HEAP,
}


def refusal(line: str) -> str:
    with pytest.raises(Invalid, match=r"^presto_settings\.custom_config: ") as refused:
        settings_of(line)
    return refused.value.message.removeprefix("presto_settings.custom_config: ")


def test_a_setting_that_would_break_the_cluster_is_refused():
    assert {line: refusal(line) for line in REFUSED} == REFUSED
