"""Nodes that have registered with YARN by names, by addresses, and otherwise than the inventory calls them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.service.runtimes.hadoop.nodes import worker

from svc_jupyter.api.clusters import ClusterConfiguration, NodeRole
from svc_jupyter.api.states import ClusterState
from svc_jupyter.service.clusters.instances import Instance
from svc_jupyter.service.runtimes.hadoop.daemon_http import DaemonSilent
from svc_jupyter.service.runtimes.hadoop.yarn_nodes import known_nodes, registered_names, running_containers
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnRest

MASTER = "127.1.1.10"


@dataclass
class Daemons:
    """Answers of the ResourceManager, and of NodeManagers by their address."""

    listed: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def get(self, url: str, **_parameters: str) -> Any:
        host = url.removeprefix("http://").partition(":")[0]
        if host == MASTER:
            nodes = [
                {"nodeHostName": name, "state": state, "numContainers": place}
                for place, (name, state) in enumerate(self.listed.items())
            ]
            return {"nodes": {"node": nodes}}
        self.asked.append(host)
        if host not in self.names:
            raise DaemonSilent(f"{host} does not answer")
        return {"nodeInfo": {"id": f"{self.names[host]}:8041"}}


@pytest.fixture
def daemons() -> Daemons:
    return Daemons()


@pytest.fixture
def yarn(daemons: Daemons) -> YarnRest:
    return YarnRest(daemons)  # type: ignore[arg-type]


@pytest.fixture
def instance() -> Instance:
    """A cluster of three workers."""
    master = replace(worker(0), role=NodeRole.MASTER, private_ip=MASTER)
    nodes = (master, worker(1), worker(2), worker(3))
    return Instance(
        7, 3, 1, ClusterState.UP, ClusterConfiguration(), "hosts", Path("/"), {}, 0.0, None, 0.0, None, nodes
    )


async def test_nodes_are_found_by_their_address_and_by_the_name_that_their_node_manager_tells(
    yarn: YarnRest, daemons: Daemons, instance: Instance
):
    daemons.listed = {"127.1.1.11": "RUNNING", "two.cluster.test": "RUNNING", "x.test": "LOST"}
    daemons.names = {"127.1.1.12": "two.cluster.test", "127.1.1.13": "three.cluster.test"}
    known = await known_nodes(yarn, instance) or {}
    assert {node.id: known[node.private_ip].host for node in instance.workers if node.private_ip in known} == {
        1: "127.1.1.11",
        2: "two.cluster.test",
    }
    daemons.listed["three.cluster.test"] = "RUNNING"
    assert (await known_nodes(yarn, instance) or {})["127.1.1.13"].host == "three.cluster.test"
    names = await registered_names(yarn, instance, instance.workers[1:])
    assert names == {2: "two.cluster.test", 3: "three.cluster.test"}


async def test_the_containers_of_workers_are_counted_by_their_names(
    yarn: YarnRest, daemons: Daemons, instance: Instance
):
    daemons.listed = {"127.1.1.11": "DECOMMISSIONING", "two.cluster.test": "RUNNING", "127.1.1.13": "LOST"}
    daemons.names = {"127.1.1.12": "two.cluster.test"}
    first, second, _ = (node.private_dns for node in instance.workers)
    assert await running_containers(yarn, instance) == {first: 0, second: 1}


async def test_a_name_is_asked_for_once_and_is_known_after_the_end_of_its_node_manager(
    yarn: YarnRest, daemons: Daemons, instance: Instance
):
    daemons.listed = {"127.1.1.11": "RUNNING", "127.1.1.13": "RUNNING", "two.cluster.test": "RUNNING"}
    daemons.names = {"127.1.1.12": "two.cluster.test"}
    await known_nodes(yarn, instance)
    daemons.names.clear()
    daemons.listed["two.cluster.test"] = "LOST"
    assert (await known_nodes(yarn, instance) or {})["127.1.1.12"].state == "LOST"
    assert daemons.asked == ["127.1.1.12"]


async def test_a_host_that_has_got_another_name_is_found_by_it(yarn: YarnRest, daemons: Daemons, instance: Instance):
    daemons.listed, daemons.names = {"old.test": "RUNNING"}, {"127.1.1.12": "old.test"}
    assert "127.1.1.12" in (await known_nodes(yarn, instance) or {})
    daemons.listed, daemons.names = {"new.test": "RUNNING"}, {"127.1.1.12": "new.test"}
    assert (await known_nodes(yarn, instance) or {})["127.1.1.12"].host == "new.test"


async def test_a_silent_node_that_was_never_asked_is_found_by_the_inventorys_name(
    yarn: YarnRest, daemons: Daemons, instance: Instance
):
    daemons.listed = {"ip-127-1-1-12": "LOST"}
    known = await known_nodes(yarn, instance) or {}
    assert known["127.1.1.12"].state == "LOST"
    assert not {"127.1.1.11", "127.1.1.13"} & known.keys()
