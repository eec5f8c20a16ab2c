"""`svc-jupyter hosts`, on real SSH servers of loopback addresses."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.service.clusters.providers.hosts_world import HostsWorld
from tests.support.ssh_host import SshHosts, ssh_hosts

from svc_jupyter.api.clusters import NodeRole
from svc_jupyter.cli.checks import hosts as checks
from svc_jupyter.cli.checks.finding import Mark
from svc_jupyter.cli.main import main


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHosts]:
    with ssh_hosts(tmp_path_factory.mktemp("hosts"), "one", "two") as hosts:
        yield hosts


@pytest.fixture(autouse=True)
def inventory(hosts: SshHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SshHosts:
    monkeypatch.setenv("SVC_HOSTS_INVENTORY", str(hosts.inventory))
    monkeypatch.setenv("SVC_DATA_DIR", str(tmp_path / "data"))
    hosts.write_inventory()
    return hosts


def test_hosts_are_listed_as_the_inventory_has_them(hosts: SshHosts, capsys: pytest.CaptureFixture[str]):
    assert main(["hosts", "list"]) == 0
    head, one, two = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "ADDRESS", "ROLES", "LABELS", "CLUSTER"]
    assert one.split() == ["one", hosts["one"].address, "master,worker", "all"]
    assert two.split()[0] == "two"


def test_a_host_in_use_is_listed_with_its_cluster(hosts: SshHosts, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    async def taken() -> int:
        world = HostsWorld.of(tmp_path / "data", hosts.inventory)
        try:
            instance = await world.take(await world.started(), NodeRole.MASTER, 1)
            assert await asyncio.to_thread(main, ["hosts", "list"]) == 0
        finally:
            await world.close()
        return instance.cluster_id

    cluster = asyncio.run(taken())
    _, one, two = capsys.readouterr().out.splitlines()
    assert (one.split()[-1], two.split()[-1]) == (str(cluster), "all")


def test_a_database_that_is_away_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("SVC_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    assert main(["hosts", "list"]) == 1
    assert capsys.readouterr().err.startswith("svc-jupyter: the database cannot be used: ")


def test_a_host_that_can_be_used_is_told_line_by_line(hosts: SshHosts, capsys: pytest.CaptureFixture[str]):
    assert main(["hosts", "check", "two"]) in (0, 1)  # this machine's disk may be full
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "two"
    told = {line.split()[1]: line for line in lines[1:] if not line.strip().startswith("→")}
    for about in ("SSH", "Java", "folder", "clock", "ports"):
        assert told[about].startswith("  ✓"), lines
    assert f"{hosts['two'].folder}, free" in told["folder"]
    assert not hosts["two"].folder.exists()  # nothing was changed there


def test_each_problem_of_a_host_is_reported_by_the_check(hosts: SshHosts, capsys: pytest.CaptureFixture[str]):
    hosts.write_inventory(one={"java": "/nowhere/java"}, two={"port": 1})
    with socket.create_server((hosts["one"].address, 8088)):
        assert main(["hosts", "check"]) == 1
    said = capsys.readouterr().out
    assert "✗ Java     host one has no Java" in said
    assert "✗ ports    something else listens at 8088 (Hadoop's resource manager http)" in said
    assert "✗ SSH      host two" in said
    assert "some hosts cannot be used" in said


def test_a_host_of_another_service_is_told_with_its_claim(hosts: SshHosts, capsys: pytest.CaptureFixture[str]):
    folder = hosts["one"].folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "claim").write_text("7-abc cluster 3 of the service at /srv/data\n")
    try:
        main(["hosts", "check", "one"])
    finally:
        (folder / "claim").unlink()
    assert f"! folder   {folder}: taken by cluster 3 of the service at /srv/data" in capsys.readouterr().out


def test_an_unknown_host_and_a_missing_inventory_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert main(["hosts", "check", "three"]) == 1
    assert "the inventory has no host three; it has one, two" in capsys.readouterr().err
    monkeypatch.delenv("SVC_HOSTS_INVENTORY")
    assert main(["hosts", "list"]) == 1
    assert "set SVC_HOSTS_INVENTORY" in capsys.readouterr().err


def test_a_clock_is_compared_with_this_machines():
    found = [checks._clock(there, 1000.0, 1001.0) for there in (1000.0, 1030.0, 700.0)]
    assert [(clock.mark, clock.what) for clock in found] == [
        (Mark.FINE, "as here"),
        (Mark.NOTE, "29 s ahead of this machine's"),
        (Mark.WRONG, "299 s behind this machine's"),
    ]


def test_a_full_disk_is_no_place_for_yarn():
    found = checks._disk({"used_kb": "95000000", "free_kb": "5000000"})
    assert found.mark is Mark.WRONG
    assert found.what.startswith("5.0 GB free, 95 % full: YARN runs nothing")


def test_addresses_of_open_sockets_are_read_in_both_families():
    assert checks._address("0100007F:1F90") == ("127.0.0.1", 8080)
    assert checks._address("00000000000000000000000000000000:0016") == ("::", 22)
