"""What a look at a host says."""

from __future__ import annotations

from svc_jupyter.service.clusters.providers.hosts_scripts import Look, parse_facts, parse_look, processors_percent
from svc_jupyter.service.clusters.providers.provider import DaemonState

LINES = """Welcome to node-1
daemon namenode 4711 -
daemon datanode - 137
daemon historyserver - -
cpu  100 10 40 800 50 0 0 0 30 0
disk 250 750
"""


def test_daemons_processors_and_disk_are_read_among_other_lines():
    look = parse_look(LINES)
    assert look.daemons == [
        DaemonState("namenode", pid=4711),
        DaemonState("datanode", exit_code=137),
        DaemonState("historyserver"),
    ]
    assert (look.busy, look.idle, look.disk_percent) == (150, 850, 25.0)


def test_the_load_is_that_between_two_looks():
    before, now = Look([], 150, 850, 0.0), Look([], 200, 900, 0.0)
    assert processors_percent(None, before) == 15.0
    assert processors_percent(before, now) == 50.0
    assert processors_percent(now, now) == 0.0
    assert processors_percent(now, Look([], 30, 10, 0.0)) == 0.0  # the host has started again


def test_facts_are_names_and_values():
    assert parse_facts("owner 7-ab cluster 3 of\ncores 8\nbare\n") == {"owner": "7-ab cluster 3 of", "cores": "8"}
