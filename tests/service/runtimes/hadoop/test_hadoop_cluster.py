"""When a Hadoop cluster is at work."""

from __future__ import annotations

from svc_jupyter.service.runtimes.hadoop.hadoop_cluster import works_for_somebody
from svc_jupyter.service.runtimes.hadoop.yarn_rest import YarnApplication


def application(name: str) -> YarnApplication:
    return YarnApplication("application_1_0001", name, "RUNNING", "UNDEFINED", 10.0)


def test_a_hive_server_that_waits_on_yarn_keeps_no_cluster_from_ending() -> None:
    assert not works_for_somebody([])
    assert not works_for_somebody([application("HiveServer2")])
    assert works_for_somebody([application("HiveServer2"), application("word count")])
