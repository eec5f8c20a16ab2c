"""Which worker goes when none is named."""

import pytest
from tests.service.engines.hadoop.nodes import worker

from svc_jupyter.api.states import NodeStatus
from svc_jupyter.service.engines.hadoop.scaling import removal_order
from svc_jupyter.service.engines.hadoop.yarn_rest import YarnNode


def _known(*containers: int) -> dict[str, YarnNode]:
    hosts = [f"127.1.1.{11 + place}" for place in range(len(containers))]
    return {host: YarnNode(host, "RUNNING", count) for host, count in zip(hosts, containers, strict=True)}


def _order(workers, known) -> list[int]:
    return [node.id for node in removal_order(workers, known)]


def test_the_idlest_goes_first():
    assert _order([worker(1), worker(2), worker(3)], _known(2, 0, 5)) == [2, 1, 3]


def test_of_equally_idle_ones_the_youngest_goes_first():
    assert _order([worker(1), worker(2), worker(3)], _known(1, 1, 1)) == [3, 2, 1]


@pytest.mark.parametrize("known", [_known(0, 0, 0), {}])
def test_a_lost_one_goes_before_all_others(known):
    assert _order([worker(1, NodeStatus.LOST), worker(2), worker(3)], known) == [1, 3, 2]


def test_nodes_of_other_commands_and_those_that_start_stay_out():
    claimed, starting = worker(1, command_id=4), worker(2, NodeStatus.STARTING)
    assert _order([claimed, starting, worker(3)], {}) == [3]
