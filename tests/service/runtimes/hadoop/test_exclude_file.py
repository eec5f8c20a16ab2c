"""The list of nodes that go."""

from xml.etree import ElementTree

from tests.service.runtimes.hadoop.nodes import worker

from svc_jupyter.api.fields import DEFAULT_TIMEOUT_SECONDS
from svc_jupyter.service.clusters.instances import Manner
from svc_jupyter.service.runtimes.hadoop.departure import PATIENCE_SECONDS, exclude_file


def _entries(text: str) -> dict[str | None, str | None]:
    return {host.findtext("name"): host.findtext("timeout") for host in ElementTree.fromstring(text)}


def test_nobody_goes():
    assert _entries(exclude_file([])) == {}


def test_a_node_may_take_longer_than_any_command_runs():
    assert _entries(exclude_file([worker(1, leaving=Manner.GRACEFUL)])) == {"127.1.1.11": str(PATIENCE_SECONDS)}
    assert PATIENCE_SECONDS > 10 * DEFAULT_TIMEOUT_SECONDS


def test_a_node_that_yarn_knows_by_a_name_is_there_by_both():
    nodes = [worker(1, leaving=Manner.GRACEFUL), worker(2, leaving=Manner.AT_ONCE)]
    assert _entries(exclude_file(nodes, {2: "two.cluster.test"})) == {
        "127.1.1.11": str(PATIENCE_SECONDS),
        "127.1.1.12": "0",
        "two.cluster.test": "0",
    }


def test_a_node_that_is_taken_back_goes_at_once():
    assert _entries(exclude_file([worker(2, leaving=Manner.AT_ONCE)])) == {"127.1.1.12": "0"}
