"""The settings files of a Presto node, and its command line."""

from __future__ import annotations

from pathlib import PurePosixPath

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.service.runtimes.hadoop.daemons import Programs
from svc_jupyter.service.runtimes.presto.configuration import (
    NodeLayout,
    catalog_files,
    daemon_of,
    node_files,
    own_catalogs,
    properties,
)
from svc_jupyter.service.runtimes.presto.settings import CustomSettings

FOLDER = PurePosixPath("/data/node")
CUSTOM = CustomSettings({NodeRole.MASTER: {"query.max-memory": "1GB"}, NodeRole.WORKER: {}})


def place_of(role: NodeRole) -> NodeLayout:
    programs = Programs(PurePosixPath("/java/bin/java"), [])
    return NodeLayout("2-127-1-1-1", "127.1.1.1", FOLDER, role, 1000, programs, [PurePosixPath("/presto/hive")])


def settings_of(role: NodeRole) -> dict[str, str]:
    files = node_files(place_of(role), "svc_5", "http://127.1.1.1:8080", "0.287", CUSTOM)
    lines = files["etc/config.properties"].decode("ascii").splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_a_node_listens_at_its_own_address_only():
    found = settings_of(NodeRole.WORKER)
    assert (found["node.bind-ip"], found["node.internal-address"]) == ("127.1.1.1", "127.1.1.1")
    argv = daemon_of(place_of(NodeRole.WORKER)).argv
    assert {"-Dcom.sun.management.jmxremote.host=127.1.1.1", "-Dsvc.address=127.1.1.1"} <= set(argv)
    assert (found["http-server.http.port"], found["jmx.rmiregistry.port"]) == ("8080", "8079"), "none that it looks for"


def test_a_worker_does_not_get_settings_for_the_coordinator_only():
    coordinator, worker = settings_of(NodeRole.MASTER), settings_of(NodeRole.WORKER)
    assert (coordinator["coordinator"], worker["coordinator"]) == ("true", "false")
    only_there = set(coordinator) - set(worker)
    assert {"discovery-server.enabled", "query-manager.required-workers-max-wait"} <= only_there


def test_custom_settings_win_and_memory_follows_the_heap():
    assert settings_of(NodeRole.MASTER)["query.max-memory"] == "1GB"
    worker = settings_of(NodeRole.WORKER)
    assert (worker["query.max-memory-per-node"], worker["query.max-total-memory-per-node"]) == ("300MB", "400MB")


def test_a_catalogue_is_a_file_and_takes_more_settings():
    files = catalog_files(own_catalogs("thrift://127.0.0.1:9"), {"tpch": {"tpch.splits-per-node": "2"}})
    assert sorted(files) == [f"etc/catalog/{name}.properties" for name in ("hive", "memory", "tpch")]
    assert files["etc/catalog/tpch.properties"] == b"connector.name=tpch\ntpch.splits-per-node=2\n"
    assert b"hive.metastore.uri=thrift://127.0.0.1:9\n" in files["etc/catalog/hive.properties"]


def test_a_value_of_any_characters_is_one_line():
    lines = {
        "plain": b"key=plain\n",
        "a\\b=c#d": b"key=a\\\\b=c#d\n",
        " x": b"key=\\ x\n",
        "two\nlines": b"key=two\\nlines\n",
        "pä€🙂": b"key=p\\u00e4\\u20ac\\ud83d\\ude42\n",
    }
    assert {value: properties({"key": value}) for value in lines} == lines
