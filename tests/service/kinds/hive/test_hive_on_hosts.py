"""Hive commands on hosts that are reached by SSH: HiveServer2 there asks the metastore of the service's machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import end_commands_of
from tests.support.engines import engine_at_once
from tests.support.hadoop import start_cluster, use_hadoop
from tests.support.service_process import ServiceProcess
from tests.support.ssh_host import SshHost, SshHosts, ssh_hosts

from svc_jupyter.service.clusters.providers.hosts_machine import FileSets
from svc_jupyter.service.installs.engine import Engine, Installed

pytestmark = [pytest.mark.timeout(900), pytest.mark.xdist_group("hosts")]
_SECONDS = 250.0
_METASTORE_HOST = "127.0.0.2"


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[SshHosts]:
    engine_at_once(Engine.HIVE_METASTORE)
    with ssh_hosts(tmp_path / "remote", "front", "one") as hosts:
        hosts.write_inventory(front={"roles": ["master"]})
        for host in hosts.hosts.values():
            _bring(engine_at_once(Engine.HADOOP), host)
        _bring(engine_at_once(Engine.SPARK), hosts["front"])
        yield hosts


def _bring(installed: Installed, host: SshHost) -> None:
    """Let a host have an engine's jars from an earlier cluster: sending them takes longer than all the rest."""
    jars = FileSets().of(installed.name, installed.jars)
    for file, place in zip(jars.files, jars.places, strict=True):
        target = host.folder / "engines" / jars.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(file)


@pytest.fixture
def service(tmp_path: Path, hosts: SshHosts) -> Iterator[ServiceProcess]:
    """A service whose clusters take their nodes from the hosts; its metastore listens at an address that they reach."""
    service = ServiceProcess(
        tmp_path / "data",
        cluster_provider="hosts",
        hosts_inventory=hosts.inventory,
        hive_metastore_host=_METASTORE_HOST,
        kill_grace_seconds=1,
    )
    try:
        yield service.start()
    finally:
        service.kill()
        end_commands_of(service.data_dir)


def test_a_table_is_made_filled_read_and_known_to_the_metastore(service: ServiceProcess, hosts: SshHosts) -> None:
    use_hadoop(service, initial_nodes=1, max_nodes=1)
    start_cluster(service)
    query = (
        "CREATE TABLE orders (id bigint) PARTITIONED BY (day string) STORED AS PARQUET LOCATION '/orders';\n"
        "INSERT INTO orders PARTITION (day='2026-11-21') SELECT id FROM range(3);\n"
        "SELECT sum(id) AS total FROM orders"
    )
    response = service.http.post("/commands", json={"command_type": "HiveCommand", "query": query})
    assert response.status_code == 200, response.text
    command = int(response.json()["id"])
    record = service.ended(command, _SECONDS)
    assert record["status"] == "done", f"{record['message']}\n{service.logs(command)}"
    assert service.text(command) == "3\r\n"

    (partition,) = service.http.get("/hive/default/orders/partitions").json()["partitions"]
    assert partition["location"] == f"hdfs://{hosts['front'].address}:8020/orders/day=2026-11-21"
