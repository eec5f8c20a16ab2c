"""Which workers go first, how a node stands, and why a server ended."""

from __future__ import annotations

import pytest

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.clusters.instances import Node
from svc_jupyter.service.engines.presto.causes import explain
from svc_jupyter.service.engines.presto.scaling import removal_order
from svc_jupyter.service.engines.presto.supervision import status_of


def node(number: int, status: NodeStatus = NodeStatus.RUNNING, role: NodeRole = NodeRole.WORKER) -> Node:
    address = f"127.1.1.{number}"
    return Node(number, role, f"h{number}", address, f"h{number}", "local", status, 0.0, None, None, {})


def test_lost_workers_go_first_then_the_idlest_then_the_youngest():
    workers = [node(1), node(2), node(3), node(4, NodeStatus.LOST), node(5), node(6, NodeStatus.STARTING)]
    order = removal_order(workers, {1: 0, 2: 2, 3: 0, 4: None, 5: None})
    assert [found.id for found in order] == [5, 4, 3, 1, 2]


@pytest.mark.parametrize(
    ("role", "announced", "is_running", "status"),
    [
        (NodeRole.WORKER, {"127.1.1.1"}, True, NodeStatus.RUNNING),
        (NodeRole.WORKER, set(), True, NodeStatus.LOST),
        (NodeRole.WORKER, {"127.1.1.1"}, False, NodeStatus.LOST),
        (NodeRole.WORKER, None, True, NodeStatus.DECOMMISSIONING),
        (NodeRole.MASTER, None, True, NodeStatus.LOST),
        (NodeRole.MASTER, {"127.1.1.1"}, True, NodeStatus.RUNNING),
    ],
)
def test_a_node_runs_when_its_server_does_and_the_coordinator_knows_it(
    role: NodeRole, announced: set[str] | None, is_running: bool, status: NodeStatus
):
    before = node(1, NodeStatus.DECOMMISSIONING, role)
    assert status_of(before, announced, is_running=is_running) is status


def test_a_setting_that_presto_does_not_know_is_named():
    output = (
        "2026-11-21T22:47:52.676Z\tERROR\tmain\tcom.facebook.presto.server.PrestoServer\tUnable to create injector, "
        "see the following errors:\n\n1) Configuration property 'query.max-memery' was not used\n"
        "  at com.facebook.airlift.bootstrap.Bootstrap.lambda$initialize$2(Bootstrap.java:251)\n"
    )
    told = explain("h1", output, 1)
    assert "Configuration property 'query.max-memery' was not used" in told
    assert "presto_settings.custom_config" in told


def test_another_program_at_the_address_is_named():
    told = explain("h1", "java.net.BindException: Failed to bind to /127.1.1.1:8080: Address already in use", 1)
    assert "another program listens at 127.1.1.1:8080" in told
