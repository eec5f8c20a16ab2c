"""What HiveServer2 needs of the machine that it is to run on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest
from tests.service.runtimes.hive_server.doubles import Machine, Metastore, instance

from svc_jupyter.service.clusters.cluster_engine import ClusterFailure
from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.runtimes.hive_server.server import HiveServers, check_reachable
from svc_jupyter.service.runtimes.metastore.process import MetastoreAddress


@dataclass(frozen=True)
class Coordinator:
    private_ip: str
    private_dns: str = "front"


@pytest.mark.parametrize(
    ("metastore", "node"), [("127.0.0.1", "127.24.1.2"), ("10.0.0.5", "10.0.0.10"), ("10.0.0.5", "127.24.1.2")]
)
def test_a_metastore_that_a_node_reaches_is_good(metastore: str, node: str) -> None:
    check_reachable(MetastoreAddress(metastore, 9083), cast("Node", Coordinator(node)))


def test_a_metastore_on_loopback_is_no_use_on_another_machine() -> None:
    with pytest.raises(ClusterFailure, match=r"front could not reach .* set SVC_HIVE_METASTORE_HOST"):
        check_reachable(MetastoreAddress("127.0.0.1", 9083), cast("Node", Coordinator("10.0.0.10")))


async def test_on_hosts_its_tasks_stay_on_the_coordinator(
    servers: HiveServers, machine: Machine, metastore: Metastore, tmp_path: Path
) -> None:
    metastore.may_answer.set()
    with pytest.raises(ClusterFailure, match=r"front cannot run its tasks on YARN.*take spark\.master out"):
        await servers.ensure(instance(tmp_path, "hosts", "spark.master=yarn"), lambda _line: None)
    assert machine.started == []
